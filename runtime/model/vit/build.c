/* A ViT as a graph (Dosovitskiy et al. 2021; DeiT: Touvron et al. 2021; registers: Darcet et al.
 * 2024): embeddings, layers, heads. What a model has is asked of its tensors and of its rules. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/halves.h"
#include "heed/ops.h"
#include "model/vit/builder.h"
#include "model/vit/int8_weights.h"

#define MOST_PATCHES (1u << 24)

/* A constant behind the graph: joined roles, times a factor, times a scale per row (layer scale
 * folded into the map before it). */
typedef struct scaled_weight {
  heed_weight weight;
  float factor;
  const float *row_scale; /* [rows], the graph's, or NULL */
  uint64_t row_length;
} scaled_weight;

static heed_status read_scaled(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  scaled_weight *w = user;
  float *out = to;
  HEED_TRY(heed_weight_read(&w->weight, first, count, to, error));
  if (w->factor != 1.0f)
    for (uint64_t i = 0; i < count; i++) out[i] *= w->factor;
  if (w->row_scale)
    for (uint64_t i = 0; i < count; i++) out[i] *= w->row_scale[(first + i) / w->row_length];
  return HEED_OK;
}

#if defined(HEED_HALVES)
/* Says of a constant how it is stored, where the file has all of it in fp16. */
static void keep_halves(heed_graph *graph, heed_value value, scaled_weight *scaled) {
  if (!value.id) return;
  for (uint32_t i = 0; i < scaled->weight.count; i++) {
    const heed_checkpoint_tensor *tensor = scaled->weight.part[i].tensor;
    if (tensor && tensor->info->dtype != HEED_F16) return;
  }
  const heed_halves halves = {heed_weight_read, &scaled->weight, scaled->factor, scaled->row_scale};
  graph->values[value.id - 1].halves = heed_graph_keep(graph, &halves, sizeof halves);
}
#endif

heed_value heed_vit_define(heed_vit_builder *b, const heed_weight *weight, heed_shape shape,
                           float factor, const float *row_scale) {
  bool present = false;
  for (uint32_t i = 0; i < weight->count; i++) present = present || weight->part[i].tensor;
  if (!present || !b->graph) return (heed_value){0};
#if defined(HEED_INT8)
  if (!heed_config_float_products(b->model->config)) {
    const heed_value int8 = heed_weight_define_int8(b->graph, weight, &shape, factor, row_scale);
    if (int8.id) return int8;
  }
#endif
  const scaled_weight scaled = {*weight, factor, row_scale,
                                heed_shape_count(&shape) / shape.dim[0]};
  void *kept = heed_graph_keep(b->graph, &scaled, sizeof scaled);
  const heed_constant_desc desc = {
      sizeof desc, NULL, HEED_F32, shape, NULL, kept ? read_scaled : NULL, kept};
  const heed_value value = heed_define_constant(b->graph, &desc);
#if defined(HEED_HALVES)
  keep_halves(b->graph, value, kept);
#endif
  return value;
}

heed_value heed_vit_define_one(heed_vit_builder *b, const heed_role_ref *ref, heed_shape shape) {
  const heed_weight weight = {{*ref}, 1};
  return heed_vit_define(b, &weight, shape, 1.0f, NULL);
}

heed_status heed_vit_keep(heed_vit_builder *b, const heed_role_ref *ref, float **data,
                          heed_error *error) {
  *data = NULL;
  if (!ref->tensor) return HEED_OK;
  float *copy = heed_alloc_raw(b->model->base.context, (size_t)ref->count, sizeof *copy);
  if (!copy)
    return heed_fail_memory(error, ref->tensor->info->name, (size_t)ref->count * sizeof *copy);
  heed_status status = heed_role_read(ref, 0, ref->count, copy, error);
  if (status == HEED_OK) {
    *data = heed_graph_keep(b->graph, copy, (size_t)ref->count * sizeof *copy);
    if (!*data)
      status = heed_fail_memory(error, ref->tensor->info->name, (size_t)ref->count * sizeof *copy);
  }
  heed_free(b->model->base.context, copy);
  return status;
}

heed_value heed_vit_define_data(heed_vit_builder *b, const float *data, heed_shape shape) {
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, shape, data, NULL, NULL};
  return heed_define_constant(b->graph, &desc);
}

void heed_vit_name(heed_vit_builder *b, heed_value value, uint32_t layer, const char *what) {
  char text[64];
  snprintf(text, sizeof text, "layer.%u.%s", layer, what);
  heed_graph_name(b->graph, value, text);
}

heed_value heed_vit_norm(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                         uint32_t width) {
  const heed_layer_norm_desc desc = {
      sizeof desc, x, heed_vit_define_one(b, &refs[0], HEED_SHAPE(width)),
      heed_vit_define_one(b, &refs[1], HEED_SHAPE(width)), b->model->dims.epsilon};
  return heed_define_layer_norm(b->graph, &desc);
}

heed_value heed_vit_project(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                            uint32_t from, uint32_t to, heed_activation activation,
                            heed_value residual, const float *row_scale) {
  const heed_weight weight = {{refs[0]}, 1}, bias = {{refs[1]}, 1};
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = x,
      .weight = heed_vit_define(b, &weight, HEED_SHAPE(to, from), 1.0f, row_scale),
      .bias = heed_vit_define(b, &bias, HEED_SHAPE(to), 1.0f, row_scale),
      .residual = residual,
      .activation = activation};
  return heed_define_linear(b->graph, &desc);
}

static heed_status build(heed_vit_builder *b, heed_error *error) {
  const heed_vit *model = b->model;
  const heed_rules *rules = &model->roles.rules;
  const bool pools = model->dims.classes || rules->pools || rules->pooled_without_classes,
             pooled = pools || heed_vit_ref(model, HEED_ROLE_POOLER_WEIGHT)->tensor ||
                      rules->norm_pooled || rules->cls_pooled,
             first = (!pools || rules->pool == HEED_POOL_CLS) && !model->dims.pool_heads;
  if (b->desc.classes_only && !b->desc.intervene &&
      heed_vit_ref(model, HEED_ROLE_CLS_TOKEN)->tensor && pooled && first)
    b->read_rows = heed_vit_ref(model, HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT)->tensor ? 2 : 1;
  heed_value x;
  const bool text = heed_is_text(model->roles.tower);
  HEED_TRY((text ? heed_vit_embed_text : heed_vit_embed)(b, &x, error));
  const heed_shape tokens =
      HEED_SHAPE(b->desc.batch, b->model->dims.prefix_tokens + b->rows * b->columns);
  if (b->desc.intervene)
    b->token_mask = heed_define_input(b->graph, "token_mask", HEED_U8, &tokens);
  for (uint32_t i = 0; i < b->model->dims.layers; i++)
    HEED_TRY(heed_vit_add_layer(b, &x, i, error));
  heed_graph_stage(b->graph, b->model->dims.layers + 1);
  if (text)
    heed_vit_add_text_heads(b, x);
  else
    HEED_TRY(heed_vit_add_heads(b, x, error));
  return heed_graph_status(b->graph, error);
}

/* The tokens: a grid of patches, or a text as one row. */
static heed_status choose_grid(heed_vit_builder *b, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const bool text = heed_is_text(b->model->roles.tower);
  if (b->desc.part != HEED_PART_WHOLE || (b->desc.source_length && !text) || b->desc.target_length)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: a vision transformer has no parts and no lengths (found %d, %u "
                     "and %u, expected 0)",
                     (int)b->desc.part, b->desc.source_length, b->desc.target_length);
  b->rows = 1;
  b->columns = b->desc.source_length ? b->desc.source_length : dims->position_rows;
  if (text && b->columns > dims->position_rows)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: text too long (found %u tokens, expected at most %u)", b->columns,
                     dims->position_rows);
  if (text) return HEED_OK;
  if (!b->desc.height) b->desc.height = dims->image_size;
  if (!b->desc.width) b->desc.width = dims->image_size;
  b->rows = b->desc.height / dims->patch;
  b->columns = b->desc.width / dims->patch;
  const uint64_t patches = (uint64_t)b->rows * b->columns;
  if (patches == 0 || patches > MOST_PATCHES)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: wrong image size (found %u x %u patches, expected 1 to %u)", b->rows,
                     b->columns, MOST_PATCHES);
  return HEED_OK;
}

heed_status heed_vit_build(const heed_model *base, const heed_build_desc *desc, heed_graph **graph,
                           heed_error *error) {
  const heed_vit *model = (const heed_vit *)base;
  heed_vit_builder b = {.model = model, .desc = *desc};
  HEED_TRY(choose_grid(&b, error));
  if (!(b.desc.temperature >= 0.0f) || isinf(b.desc.temperature))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: invalid temperature (found %g, expected more than 0)",
                     (double)b.desc.temperature);
  HEED_TRY(heed_graph_create(base->context, &b.graph, error));
  const heed_status status = build(&b, error);
  if (status != HEED_OK) {
    heed_graph_destroy(b.graph);
    return status;
  }
  *graph = b.graph;
  return HEED_OK;
}
