/* The rollout of a row from the queries and keys that a session kept. A layer's weights are made
 * again, BLOCK queries at a time, by the attention op on the session's own backend. From the last
 * layer back, only the rows are needed that the row so far has a share of. */
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/attention_block.h"
#include "explain/attention_map.h"

enum { BLOCK = HEED_ATTENTION_BLOCK };

typedef struct rollout_walk {
  const heed_rollout_desc *desc;
  heed_attention_block block;   /* of the layer */
  double *row, *next, *scratch; /* [N] */
  uint32_t *order;              /* [N] */
} rollout_walk;

/* The attention of a layer, if it has the sizes that the caller says. */
static heed_status find_layer(rollout_walk *walk, heed_value weights, heed_error *error) {
  HEED_TRY(heed_attention_block_find(&walk->block, weights, error));
  const heed_attention_sizes *s = &walk->block.sizes;
  if (walk->block.batch < s->batch && s->heads == walk->desc->heads &&
      s->keys == walk->desc->tokens && s->queries == walk->desc->tokens)
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "rollout: another attention (found batch %u of %u, %u heads, %u queries, %u "
                   "keys, expected %u heads, %u tokens)",
                   walk->block.batch, s->batch, s->heads, s->queries, s->keys, walk->desc->heads,
                   walk->desc->tokens);
}

static heed_status run_block(rollout_walk *walk, uint32_t first, heed_error *error) {
  const heed_attention_sizes *s = &walk->block.sizes;
  const uint32_t left = s->queries - first, count = left < BLOCK ? left : BLOCK;
  HEED_TRY(heed_attention_block_run(&walk->block, first, count, NULL, error));
  heed_map_rollout_add(walk->desc, walk->block.numbers, (size_t)BLOCK * s->keys, first, count,
                       walk->row, walk->next, walk->scratch, walk->order);
  return HEED_OK;
}

static bool has_share(const rollout_walk *walk, uint32_t first) {
  for (uint32_t q = first; q < walk->desc->tokens && q < first + BLOCK; q++)
    if (walk->row[q] != 0.0) return true;
  return false;
}

/* row = row times the matrix of the layer. */
static heed_status run_layer(rollout_walk *walk, heed_error *error) {
  HEED_TRY(heed_attention_block_open(&walk->block, error));
  memset(walk->next, 0, walk->desc->tokens * sizeof *walk->next);
  for (uint32_t first = 0; first < walk->desc->tokens; first += BLOCK)
    if (has_share(walk, first)) HEED_TRY(run_block(walk, first, error));
  memcpy(walk->row, walk->next, walk->desc->tokens * sizeof *walk->row);
  return HEED_OK;
}

/* Checks all layers before the first one runs. */
static heed_status make_room(rollout_walk *walk, const heed_value *weights, heed_error *error) {
  const size_t n = walk->desc->tokens;
  const heed_context *context = walk->block.graph->context;
  for (uint32_t l = 0; l < walk->desc->layers; l++) HEED_TRY(find_layer(walk, weights[l], error));
  walk->row = heed_alloc_raw(context, 3 * n, sizeof *walk->row);
  walk->order = heed_alloc_raw(context, n, sizeof *walk->order);
  if (!walk->row || !walk->order)
    return heed_fail_memory(error, "rollout", 3 * n * sizeof *walk->row);
  walk->next = walk->row + n;
  walk->scratch = walk->next + n;
  return HEED_OK;
}

heed_status heed_session_rollout_row(heed_session *session, const heed_rollout_desc *desc,
                                     const heed_value *weights, uint32_t batch, const float *start,
                                     float *row, heed_error *error) {
  heed_rollout_desc full;
  if (!session || !weights || !start || !row)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: NULL argument (expected session, weights, start and row)");
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "rollout", error));
  HEED_TRY(heed_map_rollout_check(&full, error));
  const uint32_t first = full.first_layer,
                 end = full.layer_count ? first + full.layer_count : full.layers;
  rollout_walk walk = {.desc = &full,
                       .block = {.backend = heed_session_backend(session),
                                 .from = session,
                                 .graph = heed_session_graph(session),
                                 .batch = batch}};
  heed_status status = make_room(&walk, weights, error);
  for (uint32_t i = 0; i < full.tokens && status == HEED_OK; i++) walk.row[i] = (double)start[i];
  for (uint32_t l = end; l-- > first && status == HEED_OK;
       heed_attention_block_close(&walk.block)) {
    status = find_layer(&walk, weights[l], error);
    if (status == HEED_OK) status = run_layer(&walk, error);
  }
  for (uint32_t i = 0; i < full.tokens && status == HEED_OK; i++) row[i] = (float)walk.row[i];
  heed_free(walk.block.graph->context, walk.row);
  heed_free(walk.block.graph->context, walk.order);
  return status;
}
