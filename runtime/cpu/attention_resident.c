/* attention on the CPU with whole rows of scores in the worker's scratch. A task takes
 * HEED_ATTENTION_ROWS query rows of one head:
 *   1 scores  2 scale, cap, bias, mask  3 maximum  4 exp and sum, or sparsemax  5 weighted sum of
 *   the values (matrix tiles) */
#include <string.h>

#include "cpu/attention_block.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* y = sum over keys of w v; only over keys that are seen, so that what the others hold cannot
 * matter. */
static void weigh_carefully(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b,
                            size_t first, size_t end, const float *x, float *y) {
  const size_t depth = j->s.value_depth;
  memset(y, 0, depth * sizeof *y);
  for (size_t k = first; k < end; k++)
    for (size_t d = 0; b->seen[k - first] && d < depth; d++)
      y[d] += x[k - first] * b->at.value[k * depth + d];
}

/* Scores of row r to weights before the factor, 0 outside what it may see. */
static heed_cpu_row finish_row(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b,
                               size_t r, bool careful, float *factor) {
  const size_t query = b->query + r;
  float *row = b->scores + r * j->lay.row;
  size_t first, end;
  heed_cpu_attention_row_range(j, b, r, &first, &end);
  float *x = heed_cpu_attention_logits(j, b, r, first, end);
  const size_t count = end - first;
  heed_cpu_attention_put(j, &b->at, j->logits, query, 0, j->s.keys, x, first, end, -INFINITY);
  for (size_t k = 0; careful && k < count; k++) b->seen[k] = (uint8_t)(x[k] != -INFINITY);
  const heed_cpu_row found = heed_cpu_norm_row(j->desc, x, count, factor);
  if (found == HEED_CPU_ROW_WEIGHTS) {
    if (j->weights || careful) {
      heed_cpu_scale_row(x, count, *factor, x);
      *factor = 1.0f;
    }
    heed_cpu_attention_put(j, &b->at, j->weights, query, 0, j->s.keys, x, first, end, 0.0f);
    if (careful) weigh_carefully(j, b, first, end, x, heed_cpu_attention_output(j, &b->at, query));
    for (size_t k = b->first; k < first; k++) row[k - b->base] = 0.0f;
    for (size_t k = end; k < b->end; k++) row[k - b->base] = 0.0f;
  } else {
    memset(row + (b->first - b->base), 0, (b->end - b->first) * sizeof *row);
    *factor = 0.0f;
  }
  return found;
}

/* Output columns of all rows: weights times values, panel by panel. tile: HEED_ATTENTION_ROWS x
 * HEED_TILE_COLUMNS of scratch. */
static void weigh(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b,
                  const float *factor, float *tile) {
  const size_t depth = j->s.value_depth;
  for (size_t d = 0; d < depth; d += HEED_TILE_COLUMNS) {
    size_t stride;
    const float *panel = heed_cpu_attention_values(j, &b->at, b->first, d, &stride);
    heed_cpu_attention_product(b->rows, b->scores + (b->first - b->base), j->lay.row, panel, stride,
                               b->end - b->first, tile, HEED_TILE_COLUMNS, false);
    for (size_t r = 0; r < b->rows; r++)
      heed_cpu_scale_row(tile + r * HEED_TILE_COLUMNS, MIN(depth - d, HEED_TILE_COLUMNS), factor[r],
                         heed_cpu_attention_output(j, &b->at, b->query + r) + d);
  }
}

void heed_cpu_attention_resident(uint64_t task, uint32_t worker, void *user) {
  const heed_cpu_attention_job *j = user;
  heed_cpu_attention_block b;
  heed_cpu_row found[HEED_ATTENTION_ROWS];
  float factor[HEED_ATTENTION_ROWS];
  heed_cpu_attention_find_head(j, task, &b.at, &b.query);
  b.rows = MIN(j->s.queries - b.query, HEED_ATTENTION_ROWS);
  b.scores = heed_cpu_worker_scratch(j->step, worker);
  float *tile = b.scores + HEED_ATTENTION_ROWS * j->lay.row;
  b.seen = (uint8_t *)(tile + HEED_ATTENTION_ROWS * HEED_TILE_COLUMNS);
  bool careful = false;
  for (size_t i = 0; i < j->lay.flags; i++) careful = careful || b.at.careful[i] != 0.0f;
  heed_cpu_attention_find_range(j, &b, 0, j->s.keys);
  heed_cpu_attention_score(j, &b);
  for (size_t r = 0; r < b.rows; r++) found[r] = finish_row(j, &b, r, careful, &factor[r]);
  if (!careful) weigh(j, &b, factor, tile);
  for (size_t r = 0; r < b.rows; r++)
    if (found[r] != HEED_CPU_ROW_WEIGHTS) heed_cpu_attention_fill(j, &b.at, b.query + r, found[r]);
}
