/* The rollout of rows from the queries and keys that a session kept. A layer's weights are made
 * again, BLOCK queries at a time, by the attention op on the session's own backend. From the last
 * layer back, only the blocks are needed that the rows so far have a share of. */
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
  heed_attention_block block; /* of the layer */
  uint32_t count;             /* of rows */
  double *rows, *next;        /* [count, N] */
  double *scratch;            /* [N] */
  uint32_t *order;            /* [N] */
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

static bool has_share(const rollout_walk *walk, uint32_t row, uint32_t first) {
  const double *own = walk->rows + (size_t)row * walk->desc->tokens;
  for (uint32_t q = first; q < walk->desc->tokens && q < first + BLOCK; q++)
    if (own[q] != 0.0) return true;
  return false;
}

static heed_status run_block(rollout_walk *walk, uint32_t first, heed_error *error) {
  const heed_attention_sizes *s = &walk->block.sizes;
  const uint32_t left = s->queries - first, count = left < BLOCK ? left : BLOCK;
  bool made = false;
  for (uint32_t r = 0; r < walk->count; r++) {
    const size_t at = (size_t)r * walk->desc->tokens;
    if (!has_share(walk, r, first)) continue;
    if (!made) HEED_TRY(heed_attention_block_run(&walk->block, first, count, NULL, error));
    made = true;
    heed_map_rollout_add(walk->desc, walk->block.numbers, (size_t)BLOCK * s->keys, first, count,
                         walk->rows + at, walk->next + at, walk->scratch, walk->order);
  }
  return HEED_OK;
}

/* rows = rows times the matrix of the layer. */
static heed_status run_layer(rollout_walk *walk, heed_value weights, heed_error *error) {
  const size_t bytes = (size_t)walk->count * walk->desc->tokens * sizeof *walk->rows;
  HEED_TRY(find_layer(walk, weights, error));
  heed_status status = heed_attention_block_open(&walk->block, error);
  memset(walk->next, 0, bytes);
  for (uint32_t first = 0; first < walk->desc->tokens && status == HEED_OK; first += BLOCK)
    status = run_block(walk, first, error);
  heed_attention_block_close(&walk->block);
  if (status == HEED_OK) memcpy(walk->rows, walk->next, bytes);
  return status;
}

static heed_status begin(rollout_walk *walk, heed_session *session, const heed_rollout_desc *desc,
                         uint32_t batch, heed_error *error) {
  const size_t n = desc->tokens;
  walk->desc = desc;
  walk->block = (heed_attention_block){.backend = heed_session_backend(session),
                                       .from = session,
                                       .graph = heed_session_graph(session),
                                       .batch = batch};
  const heed_context *context = walk->block.graph->context;
  walk->next = heed_alloc_raw(context, (walk->count + (size_t)1) * n, sizeof *walk->next);
  walk->order = heed_alloc_raw(context, n, sizeof *walk->order);
  if (!walk->next || !walk->order)
    return heed_fail_memory(error, "rollout", (walk->count + (size_t)1) * n * sizeof *walk->next);
  walk->scratch = walk->next + walk->count * n;
  return HEED_OK;
}

static void end(rollout_walk *walk) {
  heed_free(walk->block.graph->context, walk->next);
  heed_free(walk->block.graph->context, walk->order);
}

heed_status heed_session_rollout_back(heed_session *session, const heed_rollout_desc *desc,
                                      heed_value weights, uint32_t batch, uint32_t count,
                                      double *rows, heed_error *error) {
  HEED_TRY(heed_map_rollout_check(desc, error));
  rollout_walk walk = {.count = count, .rows = rows};
  heed_status status = begin(&walk, session, desc, batch, error);
  if (status == HEED_OK) status = run_layer(&walk, weights, error);
  end(&walk);
  return status;
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
                 last = full.layer_count ? first + full.layer_count : full.layers;
  rollout_walk walk = {.count = 1};
  heed_status status = begin(&walk, session, &full, batch, error);
  /* all layers are checked before the first one runs */
  for (uint32_t l = 0; l < full.layers && status == HEED_OK; l++)
    status = find_layer(&walk, weights[l], error);
  const heed_context *context = walk.block.graph->context;
  if (status == HEED_OK) {
    walk.rows = heed_alloc_raw(context, full.tokens, sizeof *walk.rows);
    if (!walk.rows) status = heed_fail_memory(error, "rollout", full.tokens * sizeof *walk.rows);
  }
  for (uint32_t i = 0; i < full.tokens && status == HEED_OK; i++) walk.rows[i] = (double)start[i];
  for (uint32_t l = last; l-- > first && status == HEED_OK;)
    status = run_layer(&walk, weights[l], error);
  for (uint32_t i = 0; i < full.tokens && status == HEED_OK; i++) row[i] = (float)walk.rows[i];
  heed_free(context, walk.rows);
  end(&walk);
  return status;
}
