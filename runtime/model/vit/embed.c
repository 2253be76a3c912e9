/* The tokens of a ViT: patches, positions, and what comes before the patches. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/families/positions.h"
#include "model/vit/builder.h"

/* The tokens before the patches with their positions already added: [1, prefix, C]. */
static heed_status make_prefix(heed_vit_builder *b, const float *positions, float **prefix,
                               heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const size_t width = dims->width, count = dims->prefix_tokens * width;
  const heed_role_ref *parts[] = {heed_vit_ref(b->model, HEED_ROLE_CLS_TOKEN),
                                  heed_vit_ref(b->model, HEED_ROLE_DISTILLATION_TOKEN),
                                  heed_vit_ref(b->model, HEED_ROLE_REGISTER_TOKENS)};
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

/* Positions [rows * columns, C] behind the graph, which are made when they are read. */
typedef struct resized_positions {
  const heed_context *context;
  const float *grid; /* [side, side, C] */
  const heed_position_rule *rule;
  uint32_t side, width, rows, columns;
} resized_positions;

static heed_status read_resized(void *user, uint64_t first, uint64_t count, void *to,
                                heed_error *error) {
  const resized_positions *r = user;
  const size_t all = (size_t)r->rows * r->columns * r->width;
  float *made = count == all ? to : heed_alloc_raw(r->context, all, sizeof *made);
  if (!made) return heed_fail_memory(error, "model: positions", all * sizeof *made);
  const heed_status status = heed_positions_resize(r->context, r->grid, r->side, r->width, r->rows,
                                                   r->columns, r->rule, made, error);
  if (made == to) return status;
  if (status == HEED_OK) memcpy(to, made + first, (size_t)count * sizeof *made);
  heed_free(r->context, made);
  return status;
}

/* Sessions of one model and grid share them. */
static heed_value define_resized(heed_vit_builder *b, const float *grid, uint32_t side) {
  const resized_positions resized = {b->model->base.context,
                                     grid,
                                     b->model->roles.rules.positions,
                                     side,
                                     b->model->dims.width,
                                     b->rows,
                                     b->columns};
  void *kept = heed_graph_keep(b->graph, &resized, sizeof resized);
  const heed_constant_desc desc = {sizeof desc, NULL,
                                   HEED_F32,    HEED_SHAPE(1, b->rows * b->columns, resized.width),
                                   NULL,        kept ? read_resized : NULL,
                                   kept};
  const heed_value value = heed_define_constant(b->graph, &desc);
  /* no factor of a weight has this word */
  const uint64_t words[] = {
      b->model->base.serial, UINT64_MAX,
      (uintptr_t)heed_vit_ref(b->model, HEED_ROLE_POSITION_EMBEDDINGS)->tensor, b->rows,
      b->columns};
  if (value.id) heed_graph_origin(b->graph, value, words, sizeof words / sizeof *words);
  return value;
}

/* Positions of the patches for this grid, [1, rows * columns, C]. The stored ones are of a square
 * grid (dimensions.c): unchanged for that, else by the family's rule. */
static heed_value define_positions(heed_vit_builder *b, const float *stored, uint32_t tokens) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t patches = dims->position_rows - dims->position_prefix;
  const float *grid = stored + (size_t)dims->position_prefix * dims->width;
  uint32_t side = 0;
  while (side * side < patches) side++;
  if (b->rows == side && b->columns == side)
    return heed_vit_define_data(b, grid, HEED_SHAPE(1, tokens, dims->width));
  if (b->model->roles.assumption && !b->model->config->said_grid)
    heed_log(
        b->model->base.context, HEED_LOG_WARNING,
        "%s: positions resized to %u x %u patches as in %s, %s; others with these names differ, "
        "and no config.json names the model",
        heed_checkpoint_name(b->model->base.checkpoint), b->rows, b->columns,
        b->model->roles.family->name, b->model->roles.rules.positions->text);
  return define_resized(b, grid, side);
}

/* Positions that no file stores, of the first tokens too where the rule has those. */
static heed_status compute_positions(heed_vit_builder *b, float **made, const float **positions,
                                     heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t tokens = dims->position_prefix + heed_vit_all_patches(b);
  const size_t count = (size_t)tokens * dims->width;
  *made = heed_graph_keep(b->graph, NULL, count * sizeof **made);
  if (!*made) return heed_fail_memory(error, "model: positions", count * sizeof **made);
  *positions = *made + (size_t)dims->position_prefix * dims->width;
  if (b->model->roles.rules.made_positions == HEED_POSITIONS_SINES)
    heed_positions_sines(tokens, dims->width, *made);
  else
    heed_positions_sincos(b->rows, b->columns, dims->width, *made);
  return HEED_OK;
}

/* A constant that takes each number of a patch as it is. */
static heed_status read_identity(void *user, uint64_t first, uint64_t count, void *to,
                                 heed_error *error) {
  const uint64_t step = *(const uint32_t *)user + (uint64_t)1;
  float *out = to;
  (void)error;
  for (uint64_t i = 0; i < count; i++) out[i] = (first + i) % step == 0 ? 1.0f : 0.0f;
  return HEED_OK;
}

/* The pixels of each patch as a row, [B, T, I P P], normed. */
static heed_value norm_pixels(heed_vit_builder *b, heed_value image, uint32_t numbers) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_constant_desc same = {sizeof same,
                                   NULL,
                                   HEED_F32,
                                   HEED_SHAPE(numbers, dims->channels, dims->patch, dims->patch),
                                   NULL,
                                   read_identity,
                                   heed_graph_keep(b->graph, &numbers, sizeof numbers)};
  const heed_patch_embedding_desc patch = {
      sizeof patch, image, heed_define_constant(b->graph, &same), {0}};
  return heed_vit_norm(b, heed_define_patch_embedding(b->graph, &patch),
                       heed_vit_ref(b->model, HEED_ROLE_PATCH_NORM_WEIGHT), numbers);
}

/* The map of patches [C, I P P] and its bias [C], with what the model does to pixels before:
 * (pixel - mean) / std, channel by channel. */
static heed_status fold_pixels(heed_vit_builder *b, float **weight, float **bias,
                               heed_error *error) {
  const heed_vit_dimensions *dims = &b->dims;
  const uint32_t plane = dims->patch * dims->patch;
  float *mean, *std, *own;
  HEED_TRY(heed_vit_keep(b, heed_vit_ref(b->model, HEED_ROLE_PIXEL_MEAN), &mean, error));
  HEED_TRY(heed_vit_keep(b, heed_vit_ref(b->model, HEED_ROLE_PIXEL_STD), &std, error));
  HEED_TRY(heed_vit_keep(b, heed_vit_ref(b->model, HEED_ROLE_PATCH_WEIGHT), weight, error));
  HEED_TRY(heed_vit_keep(b, heed_vit_ref(b->model, HEED_ROLE_PATCH_BIAS), &own, error));
  *bias = heed_graph_keep(b->graph, own, dims->width * sizeof **bias);
  if (!*bias) return heed_fail_memory(error, "model: patches", dims->width * sizeof **bias);
  if (!mean || !std)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: pixels have a mean or a std alone (expected input_conditioner.norm_mean "
                     "and norm_std)",
                     heed_checkpoint_name(b->model->base.checkpoint));
  for (uint32_t c = 0; c < dims->width; c++) {
    float *at = *weight + (size_t)c * dims->channels * plane;
    double sum = 0.0;
    for (uint32_t i = 0; i < dims->channels; i++)
      for (uint32_t p = 0; p < plane; p++, at++) {
        sum += (double)*at * (double)mean[i] / (double)std[i];
        *at = (float)((double)*at / (double)std[i]);
      }
    (*bias)[c] = (float)((double)(*bias)[c] - sum);
  }
  return HEED_OK;
}

/* The same of pixels that the model normalises. */
static heed_value embed_pixels(heed_vit_builder *b, heed_value image) {
  const heed_vit_dimensions *dims = &b->dims;
  float *weight = NULL, *bias = NULL;
  heed_error error;
  if (fold_pixels(b, &weight, &bias, &error) != HEED_OK) return heed_graph_fail(b->graph, &error);
  const heed_patch_embedding_desc patch = {
      sizeof patch, image,
      heed_vit_define_data(b, weight,
                           HEED_SHAPE(dims->width, dims->channels, dims->patch, dims->patch)),
      heed_vit_define_data(b, bias, HEED_SHAPE(dims->width))};
  return heed_define_patch_embedding(b->graph, &patch);
}

/* The patches as tokens, [B, T, C]. */
static heed_value embed_patches(heed_vit_builder *b, heed_value image) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_role_ref *map = heed_vit_ref(b->model, HEED_ROLE_PATCH_WEIGHT),
                      *norm = heed_vit_ref(b->model, HEED_ROLE_EMBEDDED_NORM_WEIGHT);
  const uint32_t numbers = dims->channels * dims->patch * dims->patch;
  if (heed_vit_ref(b->model, HEED_ROLE_PATCH_NORM_WEIGHT)->tensor)
    return heed_vit_norm(b,
                         heed_vit_project(b, norm_pixels(b, image, numbers), map, numbers,
                                          dims->width, HEED_ACTIVATION_NONE, (heed_value){0}, NULL),
                         norm, dims->width);
  if (heed_vit_ref(b->model, HEED_ROLE_PIXEL_MEAN)->tensor ||
      heed_vit_ref(b->model, HEED_ROLE_PIXEL_STD)->tensor)
    return embed_pixels(b, image);
  const uint32_t planes = dims->channels * (dims->frames ? dims->tubelet : 1);
  const heed_patch_embedding_desc patch = {
      sizeof patch, image,
      heed_vit_define_one(b, map, HEED_SHAPE(dims->width, planes, dims->patch, dims->patch)),
      heed_vit_define_one(b, heed_vit_ref(b->model, HEED_ROLE_PATCH_BIAS),
                          HEED_SHAPE(dims->width))};
  const heed_value x = heed_define_patch_embedding(b->graph, &patch);
  return norm->tensor ? heed_vit_norm(b, x, norm, dims->width) : x;
}

/* The patches of a video: the frames of a token are channels of one picture, frame by frame. */
static heed_value embed_frames(heed_vit_builder *b) {
  const heed_vit_dimensions *dims = &b->dims;
  const uint32_t height = b->desc.height, width = b->desc.width, steps = b->desc.batch * b->steps;
  const heed_shape frames =
                       HEED_SHAPE(b->desc.batch, b->desc.frames, dims->channels, height, width),
                   joined = HEED_SHAPE(steps, dims->tubelet * dims->channels, height, width),
                   tokens = HEED_SHAPE(b->desc.batch, heed_vit_all_patches(b), dims->width);
  const heed_value input = heed_define_input(b->graph, "pixel_values", HEED_F32, &frames);
  return heed_define_view(b->graph, embed_patches(b, heed_define_view(b->graph, input, 0, &joined)),
                          0, &tokens);
}

heed_status heed_vit_embed(heed_vit_builder *b, heed_value *x, heed_error *error) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_shape image = HEED_SHAPE(b->desc.batch, dims->channels, b->desc.height, b->desc.width);
  const uint32_t patches = heed_vit_all_patches(b);
  float *stored, *prefix = NULL;
  const float *computed = NULL;
  HEED_TRY(heed_vit_keep(b, heed_vit_ref(b->model, HEED_ROLE_POSITION_EMBEDDINGS), &stored, error));
  if (b->model->roles.rules.made_positions > HEED_POSITIONS_NONE)
    HEED_TRY(compute_positions(b, &stored, &computed, error));
  if (dims->prefix_tokens) HEED_TRY(make_prefix(b, stored, &prefix, error));
  *x = dims->frames
           ? embed_frames(b)
           : embed_patches(b, heed_define_input(b->graph, "pixel_values", HEED_F32, &image));
  if (stored) {
    const heed_add_desc add = {
        sizeof add, *x,
        computed ? heed_vit_define_data(b, computed, HEED_SHAPE(1, patches, dims->width))
                 : define_positions(b, stored, patches)};
    *x = heed_define_add(b->graph, &add);
  }
  if (prefix) {
    const heed_concat_desc concat = {
        sizeof concat,
        {heed_vit_define_data(b, prefix, HEED_SHAPE(1, dims->prefix_tokens, dims->width)), *x},
        2,
        1};
    *x = heed_define_concat(b->graph, &concat);
  }
  const heed_role_ref *norm = heed_vit_ref(b->model, HEED_ROLE_PRE_NORM_WEIGHT);
  if (norm->tensor) *x = heed_vit_norm(b, *x, norm, dims->width);
  heed_graph_name(b->graph, *x, "embeddings");
  return HEED_OK;
}
