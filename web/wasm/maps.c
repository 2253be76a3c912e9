/* Maps of the last run: rows, heads and rows of the rollout on demand. See shim.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/attention_map.h"
#include "shim.h"

static heed_status new_block(heed_web *web, uint64_t count, float **block) {
  const bool fits = count <= SIZE_MAX / sizeof **block;
  const size_t size = fits ? (size_t)count : SIZE_MAX / sizeof **block;
  *block = fits ? heed_alloc_raw(web->context, size, sizeof **block) : NULL;
  return *block ? HEED_OK : heed_fail_memory(&web->error, "attention", size * sizeof **block);
}

/* The pooling attention in place of a layer. */
#define POOL (1u << 30)

static heed_status check_below(heed_web_session *s, const char *what, uint32_t found,
                               uint32_t end) {
  if (found < end) return HEED_OK;
  return heed_fail(&s->web->error, HEED_INVALID_ARGUMENT,
                   "attention: %s out of range (found %u, expected less than %u)", what, found,
                   end);
}

/* The weights of a layer, [B, H, T, T], or of the pooling attention, [B, H, 1, N]. */
static heed_value find_weights(const heed_web_session *s, uint32_t layer, heed_shape *shape) {
  char name[64] = HEED_WEB_POOL;
  heed_value_info info;
  *shape = (heed_shape){0};
  if (layer != POOL) snprintf(name, sizeof name, "layer.%u.attention.weights", layer);
  const heed_value weights = heed_graph_find(s->graph, name);
  if (heed_graph_value_info(s->graph, weights, &info) == HEED_OK) *shape = info.shape;
  return weights;
}

/* Rows [first, first + count) of one head: copied where the weights were kept, worked out from
 * query and key otherwise. */
static heed_status read_rows(heed_web_session *s, heed_value weights, const heed_shape *shape,
                             uint32_t batch, uint32_t head, uint32_t first, uint32_t count,
                             float *to) {
  const size_t keys = shape->dim[3];
  const uint64_t from = ((uint64_t)batch * shape->dim[1] + head) * shape->dim[2] + first;
  if (heed_session_read(s->session, weights, from * keys, count * keys, to, NULL) == HEED_OK)
    return HEED_OK;
  for (uint32_t row = 0; row < count; row++)
    HEED_TRY(heed_session_attention_row(s->session, weights, batch, head, first + row,
                                        to + row * keys, NULL, &s->web->error));
  return HEED_OK;
}

/* The same of the mean over heads. */
static heed_status read_mean(heed_web_session *s, heed_value weights, const heed_shape *shape,
                             uint32_t batch, uint32_t first, uint32_t count, float *to) {
  const uint32_t heads = shape->dim[1];
  const size_t size = (size_t)count * shape->dim[3];
  float *all;
  HEED_TRY(new_block(s->web, heads * size, &all));
  heed_status status = HEED_OK;
  for (uint32_t head = 0; status == HEED_OK && head < heads; head++)
    status = read_rows(s, weights, shape, batch, head, first, count, all + head * size);
  if (status == HEED_OK) heed_map_mean_of(all, heads, size, to);
  heed_free(s->web->context, all);
  return status;
}

uint32_t heed_web_layer_tokens(const heed_layer_info *layer) {
  return layer->prefix_tokens + layer->frames * layer->rows * layer->columns;
}

/* Rows of a layer with windows over all of its tokens, which must have kept its weights. */
static heed_status read_windows(heed_web_session *s, heed_value weights, const heed_shape *shape,
                                const heed_layer_info *place, uint32_t batch, int head,
                                uint32_t first, uint32_t count, float *to) {
  const uint32_t tokens = heed_web_layer_tokens(place), heads = head < 0 ? place->heads : 1;
  const float *all;
  float *rows;
  if (heed_session_view(s->session, weights, (const void **)&all, NULL) != HEED_OK)
    return heed_fail(&s->web->error, HEED_INVALID_ARGUMENT,
                     "attention: not kept (the layer attends by windows; expected taps 'all')");
  all += (size_t)(heed_shape_count(shape) / s->batch) * batch;
  HEED_TRY(new_block(s->web, (size_t)heads * tokens, &rows));
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < heads; k++)
      heed_window_row(place, all, head < 0 ? k : (uint32_t)head, first + i,
                      rows + (size_t)k * tokens);
    heed_map_mean_of(rows, heads, tokens, to + (size_t)i * tokens);
  }
  heed_free(s->web->context, rows);
  return HEED_OK;
}

heed_status heed_web_session_attention(heed_web_session *s, uint32_t batch, uint32_t layer,
                                       int head, int query) {
  const bool pool = layer == POOL && s->pool_heads;
  if (layer == POOL && !pool)
    return heed_fail(&s->web->error, HEED_INVALID_ARGUMENT,
                     "attention: this model has no pooling attention");
  HEED_TRY(check_below(s, "image", batch, s->batch));
  if (!pool) HEED_TRY(check_below(s, "layer", layer, s->layers));
  const heed_layer_info *place = s->places && !pool ? &s->places[layer] : &s->place;
  const bool windows = place->window && !pool;
  HEED_TRY(
      check_below(s, "head", head < 0 ? 0 : (uint32_t)head, pool ? s->pool_heads : place->heads));
  heed_shape shape;
  const heed_value weights = find_weights(s, layer, &shape);
  const uint32_t queries = windows ? heed_web_layer_tokens(place) : shape.dim[2],
                 keys = windows ? queries : shape.dim[3], first = query < 0 ? 0 : (uint32_t)query,
                 count = query < 0 ? queries : 1;
  HEED_TRY(check_below(s, "query", first, queries));
  float *rows;
  HEED_TRY(new_block(s->web, (uint64_t)count * keys, &rows));
  const heed_status status =
      windows    ? read_windows(s, weights, &shape, place, batch, head, first, count, rows)
      : head < 0 ? read_mean(s, weights, &shape, batch, first, count, rows)
                 : read_rows(s, weights, &shape, batch, (uint32_t)head, first, count, rows);
  if (status != HEED_OK) {
    heed_free(s->web->context, rows);
    return status;
  }
  s->web->out.block =
      (struct heed_web_out_block){.address = HEED_WEB_ADDRESS(rows), .count = (double)count * keys};
  return HEED_OK;
}

/* Rows from maps that were kept, where they were. */
static heed_status multiply_rows(heed_web_session *s, const heed_rollout_desc *desc,
                                 heed_value weights, uint32_t batch, uint32_t count, double *rows) {
  const float *all;
  heed_error *error = &s->web->error;
  if (heed_session_view(s->session, weights, (const void **)&all, NULL) != HEED_OK)
    return heed_session_rollout_back(s->session, desc, weights, batch, count, rows, error);
  const size_t map = (size_t)s->tokens * s->tokens;
  for (uint32_t r = 0; r < count; r++)
    HEED_TRY(heed_map_rollout_back(s->web->context, desc, all + batch * s->heads * map,
                                   rows + (size_t)r * s->tokens, error));
  return HEED_OK;
}

heed_status heed_web_session_rollout_back(heed_web_session *s, uint32_t batch, heed_fusion fusion,
                                          double residual, uint32_t first_layer,
                                          uint32_t layer_count, double discard, uint32_t layer,
                                          double *rows, uint32_t count) {
  heed_rollout_desc desc = {.struct_size = sizeof desc,
                            .layers = s->layers,
                            .heads = s->heads,
                            .tokens = s->tokens,
                            .fusion = fusion,
                            .residual = (float)residual,
                            .first_layer = first_layer,
                            .layer_count = layer_count,
                            .discard = (float)discard};
  heed_shape shape;
  HEED_TRY(check_below(s, "image", batch, s->batch));
  HEED_TRY(heed_map_rollout_check(&desc, &s->web->error));
  HEED_TRY(check_below(s, "layer", layer, s->layers));
  if (s->web->defers) /* layer after layer by the backend itself */
    return heed_fail(&s->web->error, HEED_UNSUPPORTED, "rollout: maps are on another device");
  const heed_value weights = find_weights(s, layer, &shape);
  if (shape.rank != 4 || shape.dim[1] != s->heads || shape.dim[2] != s->tokens ||
      shape.dim[3] != s->tokens)
    return heed_fail(&s->web->error, HEED_UNSUPPORTED,
                     "rollout: layer %u has other maps (expected %u heads, %u tokens)", layer,
                     s->heads, s->tokens);
  desc.layers = 1;
  desc.first_layer = desc.layer_count = 0;
  return multiply_rows(s, &desc, weights, batch, count, rows);
}
