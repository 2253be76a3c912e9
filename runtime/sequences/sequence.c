/* Encoder-decoder models: opening, which builds the whole once to find every tensor and check its
 * shape; and what the builders share: weights by name, embeddings, the source, the output map. */
#include "sequences/sequence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "heed/sequences.h"
#include "model/config/config.h"
#include "model/files/source.h"

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

/* ------------------------------------------------------------------------------------- building */

static heed_status check_build(const heed_sequence *model, const heed_build_desc *desc,
                               heed_error *error) {
  if ((unsigned)desc->part > HEED_PART_STEP)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: unknown part (found %d, expected 0 to %d)", (int)desc->part,
                     HEED_PART_STEP);
  if (desc->height || desc->width || desc->row_count || desc->intervene || desc->empty_row ||
      desc->temperature != 0.0f || desc->classes_only)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: an encoder-decoder takes a part and lengths alone (found a field of "
                     "vision transformers, expected 0)");
  const uint32_t most = model->config.max_length;
  if (desc->source_length > most || desc->target_length > most)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: invalid length (found source %u and target %u, expected at most %u)",
                     desc->source_length, desc->target_length, most);
  return HEED_OK;
}

static heed_status build_sequence(const heed_model *base, const heed_build_desc *desc,
                                  heed_graph **graph, heed_error *error) {
  const heed_sequence *model = (const heed_sequence *)base;
  const uint32_t most = model->config.max_length;
  HEED_TRY(check_build(model, desc, error));
  heed_graph *made;
  HEED_TRY(heed_graph_create(base->context, &made, error));
  heed_sequence_builder b = {model, made, desc->batch,
                             desc->source_length ? desc->source_length : most,
                             desc->target_length ? desc->target_length : most};
  if (model->config.kind != HEED_SEQUENCE_TRANSFORMER)
    heed_seq2seq_build(&b, desc->part);
  else if (desc->part == HEED_PART_STEP)
    heed_transformer_build_step(&b);
  else
    heed_transformer_build(&b, desc->part);
  const heed_status status = heed_graph_status(made, error);
  if (status == HEED_OK)
    *graph = made;
  else
    heed_graph_destroy(made);
  return status;
}

/* -------------------------------------------------------------------------------------- opening */

heed_status heed_sequence_named(heed_context *context, const heed_model_desc *desc, bool *named,
                                heed_error *error) {
  if (!context || !desc || !named)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, desc and named)");
  *named = false;
  heed_model_desc full;
  HEED_TRY(heed_model_desc_read(&full, desc, error));
  const heed_model_file *file = heed_find_file(full.files, full.file_count, "config.json");
  if (!file) return HEED_OK;
  heed_json *json = NULL;
  heed_sequence_kind kind;
  const heed_status status = heed_config_read_json(context, file, &json, error);
  if (status == HEED_OK) *named = heed_sequence_find_kind(json, &kind);
  heed_json_destroy(json);
  return status;
}

static heed_status read_config(heed_sequence *model, const heed_model_desc *desc,
                               heed_error *error) {
  heed_json *json = NULL;
  const heed_model_file *file = heed_find_file(desc->files, desc->file_count, "config.json");
  if (!file)
    return heed_fail(error, HEED_INVALID_FILE,
                     "config.json: missing (expected that of an encoder-decoder)");
  heed_status status = heed_config_read_json(model->base.context, file, &json, error);
  if (status == HEED_OK)
    status = heed_sequence_read_config(json, "config.json", &model->config, error);
  heed_json_destroy(json);
  return status;
}

static void fill_info(heed_sequence *model) {
  static const char *const families[] = {"transformer", "lstm", "gru"};
  const heed_sequence_config *config = &model->config;
  heed_checkpoint_totals totals;
  heed_checkpoint_total(model->base.checkpoint, &totals);
  model->base.info = (heed_model_info){.kind = HEED_MODEL_ENCODER_DECODER,
                                       .family = families[config->kind],
                                       .width = config->width,
                                       .layers = config->encoder_layers + config->decoder_layers,
                                       .heads = config->heads,
                                       .mlp_width = config->mlp_width,
                                       .epsilon = config->epsilon,
                                       .activation = config->activation,
                                       .encoder_layers = config->encoder_layers,
                                       .decoder_layers = config->decoder_layers,
                                       .source_vocabulary = config->source_vocabulary,
                                       .features = config->features,
                                       .target_vocabulary = config->target_vocabulary,
                                       .max_length = config->max_length,
                                       .begin = config->begin,
                                       .end = config->end,
                                       .padding = config->padding,
                                       .parameters = totals.elements,
                                       .weight_bytes = totals.bytes,
                                       .tensors_used = totals.used,
                                       .tensors_unused = totals.unused};
}

/* Builds the whole once, which finds every tensor and checks its shape. */
static heed_status open_sequence(heed_model *base, const heed_model_desc *desc, heed_error *error) {
  heed_sequence *model = (heed_sequence *)base;
  HEED_TRY(read_config(model, desc, error));
  HEED_TRY(
      heed_checkpoint_open(base->context, desc->files, desc->file_count, &base->checkpoint, error));
  model->prefix = "";
  if (heed_sequence_has(model, "transformer.encoder.layers.0.linear1.weight"))
    model->prefix = "transformer.";
  const heed_build_desc whole = {
      .struct_size = sizeof whole, .batch = 1, .source_length = 1, .target_length = 1};
  heed_graph *graph;
  HEED_TRY(build_sequence(base, &whole, &graph, error));
  heed_graph_destroy(graph);
  fill_info(model);
  return HEED_OK;
}

heed_status heed_sequence_open(heed_context *context, const heed_model_desc *desc,
                               heed_model **model, heed_error *error) {
  static const heed_model_type type = {sizeof(heed_sequence), open_sequence, NULL, build_sequence};
  return heed_model_open_type(context, &type, desc, model, error);
}
