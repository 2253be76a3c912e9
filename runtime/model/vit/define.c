/* What the parts of a ViT's graph define: weights by their roles, norms and linear maps. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/halves.h"
#include "heed/ops.h"
#include "model/vit/builder.h"
#include "model/vit/int8_weights.h"

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

/* The words of a role in an origin: all fields of heed_role_ref. */
static uint32_t put_role(uint64_t *words, const heed_role_ref *ref) {
  const uint64_t of_role[] = {(uintptr_t)ref->tensor,
                              ref->first,
                              ref->count,
                              ref->stride,
                              (uint64_t)ref->columns << 32 | ref->heads,
                              (uint64_t)ref->block << 32 | ref->channels,
                              (uint64_t)ref->part << 32 | ref->parts,
                              (uint64_t)ref->frames << 1 | ref->diagonal};
  memcpy(words, of_role, sizeof of_role);
  return sizeof of_role / sizeof *of_role;
}

/* Graphs of one model, of whatever size, read the same numbers. */
static void say_origin(heed_vit_builder *b, heed_value value, const heed_weight *weight,
                       float factor, const heed_role_ref *row_scale) {
  uint64_t words[HEED_ORIGIN_WORDS] = {b->model->base.serial};
  uint32_t bits, count = 2;
  memcpy(&bits, &factor, sizeof bits);
  words[1] = bits;
  for (uint32_t i = 0; i < weight->count; i++) count += put_role(words + count, &weight->part[i]);
  if (row_scale) count += put_role(words + count, row_scale);
  heed_graph_origin(b->graph, value, words, count);
}

static heed_value define_floats(heed_vit_builder *b, const heed_weight *weight, heed_shape shape,
                                float factor, const float *row_scale) {
  const scaled_weight scaled = {*weight, factor, row_scale,
                                heed_shape_count(&shape) / shape.dim[0]};
  void *kept = heed_graph_keep(b->graph, &scaled, sizeof scaled);
  const heed_constant_desc desc = {
      sizeof desc, NULL, HEED_F32, shape, NULL, kept ? read_scaled : NULL, kept};
  const heed_value value = heed_define_constant(b->graph, &desc);
  if (HEED_KEEPS_HALVES) keep_halves(b->graph, value, kept);
  return value;
}

heed_value heed_vit_define(heed_vit_builder *b, const heed_weight *weight, heed_shape shape,
                           float factor, const heed_role_ref *row_scale) {
  bool present = false;
  float *scale = NULL;
  heed_error error;
  heed_value value = {0};
  for (uint32_t i = 0; i < weight->count; i++) present = present || weight->part[i].tensor;
  if (!present || !b->graph) return value;
  if (row_scale && heed_vit_keep(b, row_scale, &scale, &error) != HEED_OK)
    return heed_graph_fail(b->graph, &error);
  if (!heed_config_float_products(b->model->config))
    value = heed_weight_define_int8(b->graph, weight, &shape, factor, scale);
  if (!value.id) value = define_floats(b, weight, shape, factor, scale);
  say_origin(b, value, weight, factor, scale ? row_scale : NULL);
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

heed_value heed_vit_norm_by(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                            uint32_t width, float epsilon) {
  const heed_layer_norm_desc desc = {sizeof desc,
                                     x,
                                     heed_vit_define_one(b, &refs[0], HEED_SHAPE(width)),
                                     heed_vit_define_one(b, &refs[1], HEED_SHAPE(width)),
                                     epsilon,
                                     b->model->roles.rules.rms};
  return heed_define_layer_norm(b->graph, &desc);
}

heed_value heed_vit_norm(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                         uint32_t width) {
  return heed_vit_norm_by(b, x, refs, width, b->model->dims.epsilon);
}

heed_value heed_vit_project(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                            uint32_t from, uint32_t to, heed_activation activation,
                            heed_value residual, const heed_role_ref *row_scale) {
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
