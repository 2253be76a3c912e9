/* What a ViT outputs: the final states, classes, the pooled state. */
#include "base/status.h"
#include "base/tensor.h"
#include "model/vit_builder.h"

/* One classifier on token `row`, times `factor`, plus what another gave. */
static heed_value classify(heed_vit_builder *b, heed_value states, uint32_t row,
                           const heed_role_ref *refs, float factor, heed_value other) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const heed_weight weight = {{refs[0]}, 1}, bias = {{refs[1]}, 1};
  const heed_select_rows_desc select = {sizeof select, states, row, 1};
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_define_select_rows(b->graph, &select),
      .weight = heed_vit_define(b, &weight, HEED_SHAPE(dims->classes, dims->width), factor, NULL),
      .bias = heed_vit_define(b, &bias, HEED_SHAPE(dims->classes), factor, NULL),
      .residual = other};
  return heed_define_linear(b->graph, &desc);
}

/* [B, 1, n] is given out as [B, n]. */
static void give_out(heed_vit_builder *b, heed_value value, uint32_t width, const char *text) {
  const heed_shape shape = HEED_SHAPE(b->desc.batch, width);
  const heed_value flat = heed_define_view(b->graph, value, 0, &shape);
  heed_graph_name(b->graph, flat, text);
  heed_graph_output(b->graph, flat);
}

void heed_vit_add_heads(heed_vit_builder *b, heed_value x) {
  const heed_vit *model = b->model;
  const heed_value states = heed_vit_norm(b, x, model->final_norm);
  heed_graph_name(b->graph, states, "last_hidden_state");
  heed_graph_output(b->graph, states);
  if (model->dims.classes) {
    /* DeiT's two classifiers are averaged. */
    const bool two = model->distillation_classifier[0].tensor != NULL;
    heed_value logits =
        classify(b, states, 0, model->classifier, two ? 0.5f : 1.0f, (heed_value){0});
    if (two) logits = classify(b, states, 1, model->distillation_classifier, 0.5f, logits);
    give_out(b, logits, model->dims.classes, "logits");
  }
  if (model->pooler[0].tensor) {
    const heed_select_rows_desc select = {sizeof select, states, 0, 1};
    const heed_value pooled = heed_vit_project(b, heed_define_select_rows(b->graph, &select),
                                               model->pooler, model->dims.width, model->dims.width,
                                               HEED_ACTIVATION_TANH, (heed_value){0}, NULL);
    give_out(b, pooled, model->dims.width, "pooler_output");
  }
}
