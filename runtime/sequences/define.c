/* What the builders of encoder-decoders define: weights by name, embeddings, the source, the output
 * map. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/tensor.h"
#include "graph/graph.h"
#include "sequences/sequence.h"

#define NAME_SIZE 128

/* -------------------------------------------------------------------------------------- weights */

/* A constant behind the graph: a tensor times a factor. */
typedef struct scaled_tensor {
  const heed_checkpoint_tensor *tensor;
  float factor;
} scaled_tensor;

static heed_status read_scaled(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const scaled_tensor *scaled = user;
  float *out = to;
  HEED_TRY(heed_checkpoint_read(scaled->tensor, first, count, out, error));
  if (scaled->factor != 1.0f)
    for (uint64_t i = 0; i < count; i++) out[i] *= scaled->factor;
  return HEED_OK;
}

static heed_value define(heed_sequence_builder *b, const char *name, heed_shape shape,
                         float factor) {
  if (heed_graph_status(b->graph, NULL) != HEED_OK) return (heed_value){0};
  heed_checkpoint_tensor *tensor = heed_checkpoint_find(b->model->base.checkpoint, name);
  heed_error error;
  /* Only opening, which belongs to one thread, finds a tensor that is not marked as used yet. */
  if ((!tensor || !tensor->used) &&
      heed_checkpoint_need(b->model->base.checkpoint, name, &shape, &tensor, &error) != HEED_OK)
    return heed_graph_fail(b->graph, &error);
  const scaled_tensor scaled = {tensor, factor};
  void *kept = heed_graph_keep(b->graph, &scaled, sizeof scaled);
  const heed_constant_desc desc = {
      sizeof desc, NULL, HEED_F32, shape, NULL, kept ? read_scaled : NULL, kept};
  return kept ? heed_define_constant(b->graph, &desc) : (heed_value){0};
}

/* The text of format and its arguments in `name`. */
#define FORMAT(name, format)                          \
  do {                                                \
    va_list arguments_;                               \
    va_start(arguments_, format);                     \
    vsnprintf(name, sizeof name, format, arguments_); \
    va_end(arguments_);                               \
  } while (0)

heed_value heed_sequence_weight(heed_sequence_builder *b, heed_shape shape, const char *format,
                                ...) {
  char name[NAME_SIZE];
  FORMAT(name, format);
  return define(b, name, shape, 1.0f);
}

bool heed_sequence_has(const heed_sequence *model, const char *format, ...) {
  char name[NAME_SIZE];
  FORMAT(name, format);
  return heed_checkpoint_find(model->base.checkpoint, name) != NULL;
}

heed_affine heed_sequence_affine(heed_sequence_builder *b, heed_shape weight, const char *format,
                                 ...) {
  char stem[NAME_SIZE], name[NAME_SIZE + 8];
  FORMAT(stem, format);
  heed_affine made = {{0}, {0}};
  snprintf(name, sizeof name, "%s.weight", stem);
  made.weight = define(b, name, weight, 1.0f);
  snprintf(name, sizeof name, "%s.bias", stem);
  if (heed_checkpoint_find(b->model->base.checkpoint, name))
    made.bias = define(b, name, HEED_SHAPE(weight.dim[0]), 1.0f);
  return made;
}

heed_value heed_sequence_rows(heed_sequence_builder *b, heed_value weight, uint32_t first,
                              uint32_t rows) {
  heed_value_info info;
  if (heed_graph_value_info(b->graph, weight, &info) != HEED_OK) return (heed_value){0};
  const uint64_t width = info.shape.rank == 2 ? info.shape.dim[1] : 1,
                 strides[HEED_MAX_RANK] = {width, 1};
  info.shape.dim[0] = rows;
  return heed_graph_strided_constant(b->graph, weight, first * width, &info.shape, strides);
}

/* --------------------------------------------------------------------------------- shared parts */

void heed_sequence_name(heed_sequence_builder *b, heed_value value, const char *format, ...) {
  char name[NAME_SIZE];
  FORMAT(name, format);
  heed_graph_name(b->graph, value, name);
}

void heed_sequence_output(heed_sequence_builder *b, heed_value value, const char *format, ...) {
  char name[NAME_SIZE];
  FORMAT(name, format);
  heed_graph_name(b->graph, value, name);
  heed_graph_output(b->graph, value);
}

heed_value heed_sequence_input(heed_sequence_builder *b, heed_dtype dtype, heed_shape shape,
                               const char *format, ...) {
  char name[NAME_SIZE];
  FORMAT(name, format);
  return heed_define_input(b->graph, name, dtype, &shape);
}

heed_value heed_sequence_linear(heed_sequence_builder *b, heed_value x, heed_affine with,
                                heed_activation activation, heed_value residual) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = with.weight,
                                 .bias = with.bias,
                                 .activation = activation,
                                 .residual = residual};
  return heed_define_linear(b->graph, &desc);
}

heed_value heed_sequence_embed(heed_sequence_builder *b, heed_value tokens, const char *name,
                               uint32_t vocabulary, uint32_t width) {
  const float factor = b->model->config.scale_embedding ? sqrtf((float)width) : 1.0f;
  const heed_embedding_desc desc = {
      .struct_size = sizeof desc,
      .ids = tokens,
      .table = define(b, name, HEED_SHAPE(vocabulary, width), factor)};
  return heed_define_embedding(b->graph, &desc);
}

void heed_sequence_logits(heed_sequence_builder *b, heed_value x, uint32_t width) {
  const heed_shape shape = HEED_SHAPE(b->model->config.target_vocabulary, width);
  heed_affine with = {{0}, {0}};
  if (b->model->config.tied)
    with.weight = define(b, "target_embedding.weight", shape, 1.0f);
  else
    with = heed_sequence_affine(b, shape, "output");
  heed_sequence_output(b, heed_sequence_linear(b, x, with, HEED_ACTIVATION_NONE, (heed_value){0}),
                       "logits");
}

heed_value heed_sequence_source(heed_sequence_builder *b) {
  const uint32_t features = b->model->config.features;
  if (features)
    return heed_sequence_input(b, HEED_F32, HEED_SHAPE(b->batch, b->source_length, features),
                               "source_features");
  return heed_sequence_input(b, HEED_I32, HEED_SHAPE(b->batch, b->source_length), "source_tokens");
}

heed_value heed_sequence_source_padding(heed_sequence_builder *b, heed_value source) {
  if (b->model->config.features) return (heed_value){0};
  const heed_attention_mask_desc desc = {
      .struct_size = sizeof desc, .key_ids = source, .padding_id = b->model->config.padding};
  return heed_define_attention_mask(b->graph, &desc);
}
