/* A ViT as a graph (Dosovitskiy et al. 2021; DeiT: Touvron et al. 2021; registers: Darcet et al.
 * 2024). Seven nodes a layer: norm, query-key-value, attention, projection + residual, norm, fc1 +
 * activation, fc2 + residual. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "model/positions.h"
#include "model/vit.h"

/* A constant behind the graph: joined roles, times a factor, times a scale per row (layer scale
 * folded into the map before it). */
typedef struct scaled_weight {
  heed_weight weight;
  float factor;
  const float *row_scale; /* [rows], the graph's, or NULL */
  uint64_t row_length;
} scaled_weight;

typedef struct builder {
  const heed_vit *model;
  heed_build_desc desc;
  heed_graph *graph;
  uint32_t rows, columns; /* grid of patches */
  heed_value token_mask;  /* or none */
  uint32_t read_rows;     /* tokens that the last layer works out; 0 = all */
} builder;

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

/* The constant of a weight; 0 when all of its parts are absent. */
static heed_value define(builder *b, const heed_weight *weight, heed_shape shape, float factor,
                         const float *row_scale) {
  bool present = false;
  for (uint32_t i = 0; i < weight->count; i++) present = present || weight->part[i].tensor;
  if (!present || !b->graph) return (heed_value){0};
  const scaled_weight scaled = {*weight, factor, row_scale,
                                heed_shape_count(&shape) / shape.dim[0]};
  void *kept = heed_graph_keep(b->graph, &scaled, sizeof scaled);
  const heed_constant_desc desc = {
      sizeof desc, NULL, HEED_F32, shape, NULL, kept ? read_scaled : NULL, kept};
  return heed_define_constant(b->graph, &desc);
}

static heed_value define_one(builder *b, const heed_role_ref *ref, heed_shape shape) {
  const heed_weight weight = {{*ref}, 1};
  return define(b, &weight, shape, 1.0f, NULL);
}

static void name(builder *b, heed_value value, uint32_t layer, const char *what) {
  char text[64];
  snprintf(text, sizeof text, "layer.%u.%s", layer, what);
  heed_graph_name(b->graph, value, text);
}

/* ----------------------------------------------------------------------------------- embeddings */

/* Reads a small tensor whole into memory of the graph; NULL in *data when it is absent. */
static heed_status keep_tensor(builder *b, const heed_role_ref *ref, float **data,
                               heed_error *error) {
  *data = NULL;
  if (!ref->tensor) return HEED_OK;
  float *copy = heed_alloc_raw(b->model->base.context, (size_t)ref->count, sizeof *copy);
  if (!copy)
    return heed_fail_memory(error, ref->tensor->info->name, (size_t)ref->count * sizeof *copy);
  heed_status status = heed_checkpoint_read(ref->tensor, ref->first, ref->count, copy, error);
  if (status == HEED_OK) {
    *data = heed_graph_keep(b->graph, copy, (size_t)ref->count * sizeof *copy);
    if (!*data)
      status = heed_fail_memory(error, ref->tensor->info->name, (size_t)ref->count * sizeof *copy);
  }
  heed_free(b->model->base.context, copy);
  return status;
}

static heed_value define_data(builder *b, const float *data, heed_shape shape) {
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, shape, data, NULL, NULL};
  return heed_define_constant(b->graph, &desc);
}

/* The tokens before the patches with their positions already added: [1, prefix, C]. */
static heed_status make_prefix(builder *b, const float *positions, float **prefix,
                               heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const size_t width = dims->width, count = dims->prefix_tokens * width;
  const heed_role_ref *parts[] = {&b->model->cls, &b->model->distillation, &b->model->registers};
  float *made = heed_alloc(b->model->base.context, count, sizeof *made);
  if (!made) return heed_fail_memory(error, "model: prefix tokens", count * sizeof *made);
  size_t at = 0;
  heed_status status = HEED_OK;
  for (size_t i = 0; i < 3 && status == HEED_OK; i++) {
    if (!parts[i]->tensor) continue;
    status =
        heed_checkpoint_read(parts[i]->tensor, parts[i]->first, parts[i]->count, made + at, error);
    at += (size_t)parts[i]->count;
  }
  for (size_t i = 0; i < dims->position_prefix * width; i++) made[i] += positions[i];
  *prefix = status == HEED_OK ? heed_graph_keep(b->graph, made, count * sizeof *made) : NULL;
  heed_free(b->model->base.context, made);
  if (status == HEED_OK && !*prefix)
    return heed_fail_memory(error, "model: prefix tokens", count * sizeof *made);
  return status;
}

/* Positions of the patches for this grid, [1, rows * columns, C]. Square grids of the model's own
 * size pass unchanged; others by the family's rule. */
static heed_status make_positions(builder *b, const float *stored, const float **positions,
                                  heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t patches = dims->position_rows - dims->position_prefix;
  const float *grid = stored + (size_t)dims->position_prefix * dims->width;
  uint32_t side = 0;
  while ((uint64_t)side * side < patches) side++;
  *positions = grid;
  if (b->rows * b->columns == patches && (b->rows == b->columns || side * side != patches))
    return HEED_OK;
  if (side * side != patches)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "model: positions of a grid that is not square cannot be resized (found %u patches)",
        patches);
  if (b->model->roles.assumed)
    heed_log(b->model->base.context, HEED_LOG_WARNING,
             "%s: positions resized to %u x %u patches as in timm, %s; DINO and MAE differ, and no "
             "config.json names the model",
             heed_checkpoint_name(b->model->base.checkpoint), b->rows, b->columns,
             b->model->roles.rules->positions->text);
  const size_t count = (size_t)b->rows * b->columns * dims->width;
  float *resized = heed_alloc_raw(b->model->base.context, count, sizeof *resized);
  if (!resized) return heed_fail_memory(error, "model: positions", count * sizeof *resized);
  heed_status status =
      heed_positions_resize(b->model->base.context, grid, side, dims->width, b->rows, b->columns,
                            b->model->roles.rules->positions, resized, error);
  if (status == HEED_OK) {
    *positions = heed_graph_keep(b->graph, resized, count * sizeof *resized);
    if (!*positions) status = heed_fail_memory(error, "model: positions", count * sizeof *resized);
  }
  heed_free(b->model->base.context, resized);
  return status;
}

static heed_status embed(builder *b, heed_value *x, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const heed_shape image = HEED_SHAPE(b->desc.batch, dims->channels, b->desc.height, b->desc.width);
  const uint32_t patches = b->rows * b->columns;
  float *stored, *prefix = NULL;
  const float *positions;
  HEED_TRY(keep_tensor(b, &b->model->positions, &stored, error));
  HEED_TRY(make_positions(b, stored, &positions, error));
  if (dims->prefix_tokens) HEED_TRY(make_prefix(b, stored, &prefix, error));
  const heed_patch_embedding_desc patch = {
      sizeof patch, heed_define_input(b->graph, "pixel_values", HEED_F32, &image),
      define_one(b, &b->model->patch[0],
                 HEED_SHAPE(dims->width, dims->channels, dims->patch, dims->patch)),
      define_one(b, &b->model->patch[1], HEED_SHAPE(dims->width))};
  const heed_add_desc add = {sizeof add, heed_define_patch_embedding(b->graph, &patch),
                             define_data(b, positions, HEED_SHAPE(1, patches, dims->width))};
  *x = heed_define_add(b->graph, &add);
  if (prefix) {
    const heed_concat_desc concat = {
        sizeof concat,
        {define_data(b, prefix, HEED_SHAPE(1, dims->prefix_tokens, dims->width)), *x},
        2,
        1};
    *x = heed_define_concat(b->graph, &concat);
  }
  heed_graph_name(b->graph, *x, "embeddings");
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- layers */

static heed_value norm(builder *b, heed_value x, const heed_role_ref *refs) {
  const heed_shape width = HEED_SHAPE(b->model->dims.width);
  const heed_layer_norm_desc desc = {sizeof desc, x, define_one(b, &refs[0], width),
                                     define_one(b, &refs[1], width), b->model->dims.epsilon};
  return heed_define_layer_norm(b->graph, &desc);
}

/* A linear map with its rows scaled (layer scale) and a residual. */
static heed_value project(builder *b, heed_value x, const heed_role_ref *refs, uint32_t from,
                          uint32_t to, heed_activation activation, heed_value residual,
                          const float *row_scale) {
  const heed_weight weight = {{refs[0]}, 1}, bias = {{refs[1]}, 1};
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = x,
      .weight = define(b, &weight, HEED_SHAPE(to, from), 1.0f, row_scale),
      .bias = define(b, &bias, HEED_SHAPE(to), 1.0f, row_scale),
      .residual = residual,
      .activation = activation};
  return heed_define_linear(b->graph, &desc);
}

static heed_value layer_input(builder *b, uint32_t layer, const char *what, heed_dtype dtype,
                              heed_shape shape) {
  char text[64];
  snprintf(text, sizeof text, "layer.%u.%s", layer, what);
  return heed_define_input(b->graph, text, dtype, &shape);
}

/* What the heads give, plus the offset that takes the place of heads that give nothing, times the
 * gain of each. */
static heed_value change_heads(builder *b, heed_value output, uint32_t i) {
  if (!b->desc.intervene) return output;
  const uint32_t heads = b->model->dims.heads, width = b->model->dims.width,
                 tokens = b->model->dims.prefix_tokens + b->rows * b->columns;
  const heed_shape joined = HEED_SHAPE(b->desc.batch, tokens, width),
                   apart = HEED_SHAPE(b->desc.batch, tokens, heads, width / heads),
                   each = HEED_SHAPE(heads, 1);
  const heed_add_desc add = {
      sizeof add, output, layer_input(b, i, "attention.offset", HEED_F32, HEED_SHAPE(1, 1, width))};
  const heed_value gain = heed_define_view(
      b->graph, layer_input(b, i, "attention.gain", HEED_F32, HEED_SHAPE(heads)), 0, &each);
  const heed_multiply_desc multiply = {
      sizeof multiply, heed_define_view(b->graph, heed_define_add(b->graph, &add), 0, &apart),
      gain};
  return heed_define_view(b->graph, heed_define_multiply(b->graph, &multiply), 0, &joined);
}

static heed_value first_rows(builder *b, heed_value x, uint32_t count) {
  const heed_select_rows_desc desc = {sizeof desc, x, 0, count};
  return heed_define_select_rows(b->graph, &desc);
}

/* The first rows of every head's queries, which begin the stacked value: [B, H, count, D]. */
static heed_value first_queries(builder *b, heed_value stacked, const heed_shape *all,
                                uint32_t count) {
  const heed_shape heads = HEED_SHAPE(all->dim[0] * all->dim[1], all->dim[2], all->dim[3]),
                   some = HEED_SHAPE(all->dim[0], all->dim[1], count, all->dim[3]);
  return heed_define_view(
      b->graph, first_rows(b, heed_define_view(b->graph, stacked, 0, &heads), count), 0, &some);
}

static heed_value attend(builder *b, heed_value x, uint32_t i, uint32_t read_rows) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const heed_layer_refs *layer = &b->model->layers[i];
  const heed_linear_desc qkv = {
      .struct_size = sizeof qkv,
      .x = norm(b, x, layer->norm1),
      .weight = define(b, &layer->qkv[0], HEED_SHAPE(3 * dims->width, dims->width), 1.0f, NULL),
      .bias = define(b, &layer->qkv[1], HEED_SHAPE(3 * dims->width), 1.0f, NULL),
      .heads = dims->heads,
      .parts = 3};
  const heed_value stacked = heed_define_linear(b->graph, &qkv);
  const uint32_t tokens = dims->prefix_tokens + b->rows * b->columns;
  const heed_shape part = HEED_SHAPE(b->desc.batch, dims->heads, tokens, dims->width / dims->heads);
  static const char *const names[] = {"query", "key", "value"};
  heed_value qkv_part[3];
  for (uint32_t p = 0; p < 3; p++) {
    qkv_part[p] = heed_define_view(b->graph, stacked, p * heed_shape_count(&part), &part);
    name(b, qkv_part[p], i, names[p]);
  }
  const float temperature = b->desc.temperature == 0.0f ? 1.0f : b->desc.temperature;
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = read_rows ? first_queries(b, stacked, &part, read_rows) : qkv_part[0],
      .key = qkv_part[1],
      .value = qkv_part[2],
      .mask = b->desc.intervene ? layer_input(b, i, "attention.mask", HEED_U8,
                                              HEED_SHAPE(1, dims->heads, tokens, tokens))
                                : (heed_value){0},
      .key_padding = b->token_mask,
      .scale =
          temperature == 1.0f ? 0.0f : (float)(1.0 / (sqrt(part.dim[3]) * (double)temperature)),
      .empty_row = b->desc.empty_row,
      .merge_heads = true,
      .rows = read_rows ? NULL : b->desc.rows,
      .row_count = read_rows ? 0 : b->desc.row_count};
  const heed_attention_values values = heed_define_attention(b->graph, &attention);
  name(b, values.output, i, "attention.output");
  name(b, values.weights, i, "attention.weights");
  name(b, values.logits, i, "attention.logits");
  return change_heads(b, values.output, i);
}

static heed_status add_layer(builder *b, heed_value *x, uint32_t i, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const heed_layer_refs *layer = &b->model->layers[i];
  float *scale1, *scale2;
  HEED_TRY(keep_tensor(b, &layer->scale1, &scale1, error));
  HEED_TRY(keep_tensor(b, &layer->scale2, &scale2, error));
  heed_graph_stage(b->graph, i + 1);
  const uint32_t read_rows = i + 1 == dims->layers ? b->read_rows : 0;
  const heed_value attended = attend(b, *x, i, read_rows);
  if (read_rows) *x = first_rows(b, *x, read_rows);
  *x = project(b, attended, layer->attention_output, dims->width, dims->width, HEED_ACTIVATION_NONE,
               *x, scale1);
  const heed_value hidden = project(b, norm(b, *x, layer->norm2), layer->fc1, dims->width,
                                    dims->mlp_width, dims->activation, (heed_value){0}, NULL);
  *x = project(b, hidden, layer->fc2, dims->mlp_width, dims->width, HEED_ACTIVATION_NONE, *x,
               scale2);
  name(b, *x, i, "output");
  return HEED_OK;
}

/* ---------------------------------------------------------------------------------------- heads */

/* One classifier on token `row`, times `factor`, plus what another gave. */
static heed_value classify(builder *b, heed_value states, uint32_t row, const heed_role_ref *refs,
                           float factor, heed_value other) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const heed_weight weight = {{refs[0]}, 1}, bias = {{refs[1]}, 1};
  const heed_select_rows_desc select = {sizeof select, states, row, 1};
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_define_select_rows(b->graph, &select),
      .weight = define(b, &weight, HEED_SHAPE(dims->classes, dims->width), factor, NULL),
      .bias = define(b, &bias, HEED_SHAPE(dims->classes), factor, NULL),
      .residual = other};
  return heed_define_linear(b->graph, &desc);
}

/* [B, 1, n] is given out as [B, n]. */
static void give_out(builder *b, heed_value value, uint32_t width, const char *text) {
  const heed_shape shape = HEED_SHAPE(b->desc.batch, width);
  const heed_value flat = heed_define_view(b->graph, value, 0, &shape);
  heed_graph_name(b->graph, flat, text);
  heed_graph_output(b->graph, flat);
}

static void add_heads(builder *b, heed_value x) {
  const heed_vit *model = b->model;
  const heed_value states = norm(b, x, model->final_norm);
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
    const heed_value pooled =
        project(b, heed_define_select_rows(b->graph, &select), model->pooler, model->dims.width,
                model->dims.width, HEED_ACTIVATION_TANH, (heed_value){0}, NULL);
    give_out(b, pooled, model->dims.width, "pooler_output");
  }
}

static heed_status build(builder *b, heed_error *error) {
  const heed_vit *model = b->model;
  const bool read =
      model->dims.prefix_tokens > 0 && (model->dims.classes || model->pooler[0].tensor);
  if (b->desc.classes_only && !b->desc.intervene && read)
    b->read_rows = model->distillation_classifier[0].tensor ? 2 : 1;
  heed_value x;
  HEED_TRY(embed(b, &x, error));
  const heed_shape tokens =
      HEED_SHAPE(b->desc.batch, b->model->dims.prefix_tokens + b->rows * b->columns);
  if (b->desc.intervene)
    b->token_mask = heed_define_input(b->graph, "token_mask", HEED_U8, &tokens);
  for (uint32_t i = 0; i < b->model->dims.layers; i++) HEED_TRY(add_layer(b, &x, i, error));
  heed_graph_stage(b->graph, b->model->dims.layers + 1);
  add_heads(b, x);
  return heed_graph_status(b->graph, error);
}

heed_status heed_vit_build(const heed_model *base, const heed_build_desc *desc, heed_graph **graph,
                           heed_error *error) {
  const heed_vit *model = (const heed_vit *)base;
  builder b = {.model = model, .desc = *desc};
  if (desc->part != HEED_PART_WHOLE || desc->source_length || desc->target_length)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: a vision transformer has no parts and no lengths (found part %d, "
                     "source %u, target %u, expected 0)",
                     (int)desc->part, desc->source_length, desc->target_length);
  if (!b.desc.height) b.desc.height = model->dims.image_size;
  if (!b.desc.width) b.desc.width = model->dims.image_size;
  b.rows = b.desc.height / model->dims.patch;
  b.columns = b.desc.width / model->dims.patch;
  if (b.rows == 0 || b.columns == 0 || (uint64_t)b.rows * b.columns > (1u << 24))
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "build: image smaller than a patch (found %ux%u pixels, expected at least %ux%u)",
        b.desc.width, b.desc.height, model->dims.patch, model->dims.patch);
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
