/* What a ViT outputs: the final states, classes, the pooled state. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

static heed_value row(heed_vit_builder *b, heed_value states, uint32_t index) {
  const heed_select_rows_desc select = {sizeof select, states, index, 1};
  return heed_define_select_rows(b->graph, &select);
}

/* The mean of the tokens from `first` on, [B, 1, C]: a linear map over the tokens. */
static heed_status mean_from(heed_vit_builder *b, heed_value states, uint32_t first,
                             heed_value *mean, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t tokens = heed_vit_tokens(b);
  float *shares = heed_alloc(b->model->base.context, tokens, sizeof *shares);
  if (!shares) return heed_fail_memory(error, "model: mean", tokens * sizeof *shares);
  for (uint32_t t = first; t < tokens; t++) shares[t] = 1.0f / (float)(tokens - first);
  const float *kept = heed_graph_keep(b->graph, shares, tokens * sizeof *shares);
  heed_free(b->model->base.context, shares);
  if (!kept) return heed_fail_memory(error, "model: mean", tokens * sizeof *shares);
  const heed_permute_desc permute = {sizeof permute, states, {0, 2, 1}};
  const heed_linear_desc linear = {.struct_size = sizeof linear,
                                   .x = heed_define_permute(b->graph, &permute),
                                   .weight = heed_vit_define_data(b, kept, HEED_SHAPE(1, tokens))};
  const heed_shape shape = HEED_SHAPE(b->desc.batch, 1, dims->width);
  *mean = heed_define_view(b->graph, heed_define_linear(b->graph, &linear), 0, &shape);
  return HEED_OK;
}

/* What the classifier reads, [B, 1, C] or [B, 1, 2 C]. `pooled` comes in with the result of the
 * pooling attention, or none. */
static heed_status pool(heed_vit_builder *b, heed_value states, heed_value *pooled,
                        heed_error *error) {
  const heed_pool rule = (heed_pool)b->model->roles.rules.pool;
  if (rule == HEED_POOL_PROBE) return HEED_OK;
  if (rule == HEED_POOL_CLS)
    *pooled = row(b, states, 0);
  else
    HEED_TRY(mean_from(b, states, rule == HEED_POOL_TOKENS ? 0 : b->model->dims.prefix_tokens,
                       pooled, error));
  if (rule == HEED_POOL_CLS_AND_PATCHES) {
    const heed_concat_desc concat = {sizeof concat, {row(b, states, 0), *pooled}, 2, 2};
    *pooled = heed_define_concat(b->graph, &concat);
  }
  const float own = b->model->roles.rules.pool_epsilon;
  if (heed_vit_ref(b->model, HEED_ROLE_POOL_NORM_WEIGHT)->tensor)
    *pooled = heed_vit_norm_by(b, *pooled, heed_vit_ref(b->model, HEED_ROLE_POOL_NORM_WEIGHT),
                               b->model->dims.width, own > 0.0f ? own : b->model->dims.epsilon);
  return HEED_OK;
}

/* One classifier, times `factor`, plus what another gave. */
static heed_value classify(heed_vit_builder *b, heed_value pooled, const heed_role_ref *refs,
                           float factor, heed_value other) {
  const uint32_t classes = b->model->dims.classes;
  const heed_weight weight = {{refs[0]}, 1}, bias = {{refs[1]}, 1};
  const heed_shape shape = HEED_SHAPE(classes, (uint32_t)(refs[0].count / classes));
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = pooled,
      .weight = heed_vit_define(b, &weight, shape, factor, NULL),
      .bias = heed_vit_define(b, &bias, HEED_SHAPE(classes), factor, NULL),
      .residual = other};
  return heed_define_linear(b->graph, &desc);
}

/* [B, 1, n] is output as [B, n]. */
static void output(heed_vit_builder *b, heed_value value, uint32_t width, const char *text) {
  const heed_shape shape = HEED_SHAPE(b->desc.batch, width);
  const heed_value flat = heed_define_view(b->graph, value, 0, &shape);
  heed_graph_name(b->graph, flat, text);
  heed_graph_output(b->graph, flat);
}

static void add_classes(heed_vit_builder *b, heed_value states, heed_value pooled) {
  const heed_vit *model = b->model;
  /* DeiT's two classifiers are averaged. */
  const bool two = heed_vit_ref(model, HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT)->tensor != NULL;
  const heed_role_ref *norm = heed_vit_ref(model, HEED_ROLE_HEAD_NORM_WEIGHT);
  if (norm->tensor) pooled = heed_vit_norm(b, pooled, norm, model->dims.width);
  if (model->dims.hidden)
    pooled = heed_vit_project(b, pooled, heed_vit_ref(model, HEED_ROLE_HEAD_HIDDEN_WEIGHT),
                              model->dims.width, model->dims.hidden,
                              (heed_activation)model->roles.rules.head_activation, (heed_value){0},
                              NULL);
  /* what the classifier reads, for those who go on from there */
  const heed_shape read = HEED_SHAPE(
      b->desc.batch,
      (uint32_t)(heed_vit_ref(model, HEED_ROLE_CLASSIFIER_WEIGHT)->count / model->dims.classes));
  heed_graph_name(b->graph, heed_define_view(b->graph, pooled, 0, &read), "pre_logits");
  heed_value logits = classify(b, pooled, heed_vit_ref(model, HEED_ROLE_CLASSIFIER_WEIGHT),
                               two ? 0.5f : 1.0f, (heed_value){0});
  if (two)
    logits = classify(b, row(b, states, 1),
                      heed_vit_ref(model, HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT), 0.5f, logits);
  output(b, logits, model->dims.classes, "logits");
}

/* The pooled state and the image embedding: of CLS, where `pooled` is none. After a pooling
 * attention the embedding is the pooled state itself, unless a classifier reads it. */
static void add_embedding(heed_vit_builder *b, heed_value states, heed_value pooled) {
  const heed_vit *model = b->model;
  const uint32_t width = model->dims.width;
  if (model->roles.rules.norm_pooled)
    pooled = heed_vit_norm(b, row(b, states, 0), heed_vit_ref(model, HEED_ROLE_FINAL_NORM_WEIGHT),
                           width);
  if (model->roles.rules.cls_pooled && !model->dims.classes) pooled = row(b, states, 0);
  if (heed_vit_ref(model, HEED_ROLE_POOLER_WEIGHT)->tensor)
    pooled = heed_vit_project(b, row(b, states, 0), heed_vit_ref(model, HEED_ROLE_POOLER_WEIGHT),
                              width, width, HEED_ACTIVATION_TANH, (heed_value){0}, NULL);
  if (pooled.id) output(b, pooled, width, "pooler_output");
  if (!pooled.id) return;
  const heed_role_ref *embedding = heed_vit_ref(model, HEED_ROLE_PROJECTION_WEIGHT);
  if (!embedding->tensor) {
    if (model->dims.pool_heads && !model->dims.classes) output(b, pooled, width, "image_embeds");
    return;
  }
  output(b,
         heed_vit_project(b, pooled, embedding, width, model->dims.projection, HEED_ACTIVATION_NONE,
                          (heed_value){0}, NULL),
         model->dims.projection, "image_embeds");
  if (!model->roles.rules.norm_pooled || b->read_rows) return;
  /* What CLS goes through, of every token: costs nothing where it is not tapped. */
  const heed_role_ref *norm = heed_vit_ref(model, HEED_ROLE_FINAL_NORM_WEIGHT);
  heed_graph_name(
      b->graph,
      heed_vit_project(b, heed_vit_norm(b, states, norm, width), embedding, width,
                       model->dims.projection, HEED_ACTIVATION_NONE, (heed_value){0}, NULL),
      "token_embeds");
}

heed_status heed_vit_add_heads(heed_vit_builder *b, heed_value x, heed_error *error) {
  const heed_vit *model = b->model;
  const bool normed = heed_vit_ref(model, HEED_ROLE_FINAL_NORM_WEIGHT)->tensor &&
                      (!model->roles.rules.norm_pooled || model->roles.rules.norm_twice);
  const heed_shape shape = HEED_SHAPE(
      b->desc.batch, b->read_rows ? b->read_rows : heed_vit_tokens(b), model->dims.width);
  x = normed
          ? heed_vit_norm(b, x, heed_vit_ref(model, HEED_ROLE_FINAL_NORM_WEIGHT), model->dims.width)
          : heed_define_view(b->graph, x, 0, &shape); /* beside the name of the last layer */
  heed_graph_name(b->graph, x, "last_hidden_state");
  heed_graph_output(b->graph, x);
  heed_value probed = {0};
  if (model->dims.pool_heads) HEED_TRY(heed_vit_pool_attention(b, x, &probed, error));
  heed_value pooled = probed;
  /* BEiT's pooler is a norm, which a model that only has to see masked patches goes without. */
  const heed_rules *rules = &model->roles.rules;
  const bool pools = (rules->pooled_without_classes && !model->dims.classes) ||
                     (rules->pools && (rules->pool == HEED_POOL_CLS ||
                                       heed_vit_ref(model, HEED_ROLE_POOL_NORM_WEIGHT)->tensor));
  if (model->dims.classes || pools) HEED_TRY(pool(b, x, &pooled, error));
  if (model->dims.classes) add_classes(b, x, pooled);
  add_embedding(b, x, pools ? pooled : probed);
  return HEED_OK;
}
