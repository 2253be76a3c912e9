/* What a text tower has in the place of patches and heads: embeddings of ids, and the projection of
 * its tokens (Radford et al. 2021; Zhai et al. 2023). The layers are those of a ViT. */
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

heed_status heed_vit_embed_text(heed_vit_builder *b, heed_value *x, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const heed_shape ids = HEED_SHAPE(b->desc.batch, b->columns);
  const heed_embedding_desc embedding = {
      .struct_size = sizeof embedding,
      .ids = heed_define_input(b->graph, "input_ids", HEED_I32, &ids),
      .table = heed_vit_define_one(b, heed_vit_ref(b->model, HEED_ROLE_TOKEN_EMBEDDINGS),
                                   HEED_SHAPE(dims->vocabulary, dims->width))};
  float *positions;
  HEED_TRY(
      heed_vit_keep(b, heed_vit_ref(b->model, HEED_ROLE_POSITION_EMBEDDINGS), &positions, error));
  const heed_add_desc add = {
      sizeof add, heed_define_embedding(b->graph, &embedding),
      heed_vit_define_data(b, positions, HEED_SHAPE(1, b->columns, dims->width))};
  *x = heed_define_add(b->graph, &add);
  heed_graph_name(b->graph, *x, "embeddings");
  return HEED_OK;
}

void heed_vit_add_text_heads(heed_vit_builder *b, heed_value x) {
  const heed_vit *model = b->model;
  const uint32_t width = model->dims.width, size = model->dims.projection;
  const heed_role_ref *projection = heed_vit_ref(model, HEED_ROLE_PROJECTION_WEIGHT);
  x = heed_vit_norm(b, x, heed_vit_ref(model, HEED_ROLE_FINAL_NORM_WEIGHT), width);
  heed_graph_name(b->graph, x, "last_hidden_state");
  heed_graph_output(b->graph, x);
  if (!projection->tensor) return;
  x = heed_vit_project(b, x, projection, width, size, HEED_ACTIVATION_NONE, (heed_value){0}, NULL);
  heed_graph_name(b->graph, x, "token_embeds");
  heed_graph_output(b->graph, x);
}

uint32_t heed_text_row(const heed_model_info *text, const int32_t *ids, uint32_t count) {
  uint32_t row = 0;
  if (text->text_padded) return count ? count - 1 : 0;
  for (uint32_t i = 1; i < count; i++)
    if (text->end < 0 ? ids[i] > ids[row] : ids[i] == text->end && ids[row] != text->end) row = i;
  return row;
}
