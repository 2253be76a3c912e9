/* attention on the CPU with tiles of keys passing by, so that no row of scores is ever whole:
 * memory does not grow with Tq Tk. A task takes up to HEED_ATTENTION_BLOCKS blocks of query rows of
 * one head; for each tile of HEED_ATTENTION_TILE keys and each block
 *   1 scores  2 scale, cap, bias, mask  3 running maximum  4 exp and running sum  5 weighted sum of
 *   the values so far
 * where a new maximum shrinks what was summed before (Milakov & Gimelshein 2018; Dao et al. 2022).
 * With weights or logits wanted a second pass over the tiles works out the same scores again and
 * writes exp(logit - maximum) / sum. Tiles that position and masks leave to no row of a block are
 * skipped. */
#include <string.h>

#include "cpu/attention_block.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MOST_ROWS (HEED_ATTENTION_BLOCKS * HEED_ATTENTION_ROWS)

/* A task, and what is known of its rows after the tiles that have passed. */
typedef struct stream {
  const heed_cpu_attention_job *job;
  heed_cpu_attention_block block; /* the one at hand */
  size_t query, rows;             /* of the task */
  size_t first, end;              /* keys that position leaves to any row */
  bool careful;                   /* of the tile at hand */
  /* [rows, Dv], rows lay.sums apart: of exp(logit - largest) times value */
  float *sums;
  float largest[MOST_ROWS], total[MOST_ROWS]; /* of the logits; of exp(logit - largest) */
  heed_cpu_row found[MOST_ROWS];              /* EMPTY until a key was seen; BROKEN sticks */
} stream;

/* A logit above all before it: what was summed is taken relative to it. */
static void raise_maximum(stream *s, size_t at, float largest) {
  float by[HEED_SIMD_WIDTH];
  f32_store(by, f32_exp(f32_set1(s->largest[at] - largest)));
  float *sums = s->sums + at * s->job->lay.sums;
  heed_cpu_scale_row(sums, s->job->s.value_depth, by[0], sums);
  s->total[at] *= by[0];
  s->largest[at] = largest;
}

/* Adds w v over keys that are seen, so that what the others hold cannot matter. */
static void weigh_carefully(const stream *s, size_t at, size_t first, size_t end, const float *x) {
  const size_t depth = s->job->s.value_depth;
  float *sums = s->sums + at * s->job->lay.sums;
  for (size_t k = first; k < end; k++)
    for (size_t d = 0; s->block.seen[k - first] && d < depth; d++)
      sums[d] += x[k - first] * s->block.at.value[k * depth + d];
}

/* Passes 2 to 4 of row r of the block, row `at` of the task. Returns whether keys [first, end) of
 * it have weights. */
static bool add_row(stream *s, size_t r, size_t at, size_t first, size_t end) {
  const size_t count = end - first;
  float *x = heed_cpu_attention_logits(s->job, &s->block, r, first, end);
  const float largest = heed_cpu_max_row(x, count);
  /* A NaN may hide behind a maximum of -Inf; behind any other it shows in the sum. */
  if (!(largest < INFINITY) || (largest == -INFINITY && heed_cpu_broken(x, count)))
    s->found[at] = HEED_CPU_ROW_BROKEN;
  if (s->found[at] == HEED_CPU_ROW_BROKEN || largest == -INFINITY) return false;
  s->found[at] = HEED_CPU_ROW_WEIGHTS;
  if (largest > s->largest[at]) raise_maximum(s, at, largest);
  for (size_t k = 0; s->careful && k < count; k++) s->block.seen[k] = (uint8_t)(x[k] != -INFINITY);
  s->total[at] += heed_cpu_exp_row(x, count, s->largest[at], x);
  if (isnan(s->total[at])) s->found[at] = HEED_CPU_ROW_BROKEN;
  if (s->careful) weigh_carefully(s, at, first, end, x);
  return s->found[at] == HEED_CPU_ROW_WEIGHTS;
}

/* 5: adds weights times values, panel by panel. */
static void weigh(const stream *s, size_t at) {
  const heed_cpu_attention_job *j = s->job;
  const heed_cpu_attention_block *b = &s->block;
  for (size_t d = 0; d < j->s.value_depth; d += HEED_TILE_COLUMNS) {
    size_t stride;
    const float *panel = heed_cpu_attention_values(j, &b->at, b->first, d, &stride);
    heed_cpu_attention_product(b->rows, b->scores + (b->first - b->base), j->lay.row, panel, stride,
                               b->end - b->first, s->sums + at * j->lay.sums + d, j->lay.sums,
                               true);
  }
}

/* One block under the tile of keys [low, high); `at`: its first row in the task. */
static void add_block(stream *s, size_t at, size_t low, size_t high) {
  const heed_cpu_attention_job *j = s->job;
  heed_cpu_attention_block *b = &s->block;
  heed_cpu_attention_find_range(j, b, low, high);
  if (b->first == b->end) return;
  heed_cpu_attention_score(j, b);
  for (size_t r = 0; r < b->rows; r++) {
    float *row = b->scores + r * j->lay.row;
    size_t first, end;
    heed_cpu_attention_row_range(j, b, r, &first, &end);
    if (!add_row(s, r, at + r, first, end)) first = end = b->first;
    for (size_t k = b->first; k < first; k++) row[k - b->base] = 0.0f;
    for (size_t k = end; k < b->end; k++) row[k - b->base] = 0.0f;
  }
  if (!s->careful) weigh(s, at);
}

/* Whether somebody wants a row of the weights or logits. */
static bool is_wanted(const heed_cpu_attention_job *j, size_t query) {
  bool wanted = j->desc->row_count == 0;
  for (uint32_t r = 0; !wanted && r < j->desc->row_count; r++) wanted = j->desc->rows[r] == query;
  return wanted;
}

/* Weights and logits of one row under the tile of keys [low, high), from its scores. */
static void put_row(stream *s, size_t r, size_t at, size_t low, size_t high) {
  const heed_cpu_attention_job *j = s->job;
  const heed_cpu_attention_block *b = &s->block;
  const size_t query = b->query + r;
  size_t first, end;
  heed_cpu_attention_row_range(j, b, r, &first, &end);
  float *x = heed_cpu_attention_logits(j, b, r, first, end);
  heed_cpu_attention_put(j, &b->at, j->logits, query, low, high, x, first, end, -INFINITY);
  if (!j->weights || s->found[at] != HEED_CPU_ROW_WEIGHTS) return;
  heed_cpu_exp_row(x, end - first, s->largest[at], x);
  heed_cpu_scale_row(x, end - first, 1.0f / s->total[at], x);
  heed_cpu_attention_put(j, &b->at, j->weights, query, low, high, x, first, end, 0.0f);
}

static void put_block(stream *s, size_t at, size_t low, size_t high) {
  const heed_cpu_attention_job *j = s->job;
  heed_cpu_attention_block *b = &s->block;
  bool wanted = false;
  for (size_t r = 0; r < b->rows && !wanted; r++) wanted = is_wanted(j, b->query + r);
  if (!wanted) return;
  heed_cpu_attention_find_range(j, b, low, high);
  heed_cpu_attention_score(j, b);
  for (size_t r = 0; r < b->rows; r++)
    if (is_wanted(j, b->query + r)) put_row(s, r, at + r, low, high);
}

/* Does something with every block under every tile of the keys [first, end). */
static void pass(stream *s, size_t first, size_t end,
                 void (*with)(stream *s, size_t at, size_t low, size_t high)) {
  for (size_t low = first / HEED_ATTENTION_TILE * HEED_ATTENTION_TILE; low < end;
       low += HEED_ATTENTION_TILE) {
    s->careful = s->block.at.careful[low / HEED_ATTENTION_TILE] != 0.0f;
    for (size_t at = 0; at < s->rows; at += HEED_ATTENTION_ROWS) {
      s->block.query = s->query + at;
      s->block.rows = MIN(s->rows - at, HEED_ATTENTION_ROWS);
      with(s, at, low, MIN(low + HEED_ATTENTION_TILE, s->job->s.keys));
    }
  }
}

static void start(stream *s, const heed_cpu_attention_job *j, uint64_t task, uint32_t worker) {
  s->job = j;
  heed_cpu_attention_find_head(j, task, &s->block.at, &s->query);
  s->rows = MIN(j->s.queries - s->query, j->task_rows);
  s->block.scores = heed_cpu_worker_scratch(j->step, worker);
  s->sums = s->block.scores + HEED_ATTENTION_ROWS * j->lay.row;
  s->block.seen = (uint8_t *)(s->sums + j->task_rows * j->lay.sums);
  memset(s->sums, 0, s->rows * j->lay.sums * sizeof *s->sums);
  for (size_t i = 0; i < s->rows; i++) {
    s->largest[i] = -INFINITY;
    s->total[i] = 0.0f;
    s->found[i] = HEED_CPU_ROW_EMPTY;
  }
  /* Both ends only rise from row to row. */
  uint32_t first, end, last_first;
  heed_attention_key_range(j->desc, j->s.queries, j->s.keys, (uint32_t)s->query, &first, &end);
  heed_attention_key_range(j->desc, j->s.queries, j->s.keys, (uint32_t)(s->query + s->rows - 1),
                           &last_first, &end);
  s->first = first;
  s->end = end;
}

void heed_cpu_attention_streamed(uint64_t task, uint32_t worker, void *user) {
  const heed_cpu_attention_job *j = user;
  stream s;
  start(&s, j, task, worker);
  pass(&s, s.first, s.end, add_block);
  if (j->weights || j->logits) pass(&s, 0, j->s.keys, put_block);
  for (size_t i = 0; i < s.rows; i++) {
    const size_t query = s.query + i;
    if (s.found[i] != HEED_CPU_ROW_WEIGHTS)
      heed_cpu_attention_fill(j, &s.block.at, query, s.found[i]);
    else
      heed_cpu_scale_row(s.sums + i * j->lay.sums, j->s.value_depth, 1.0f / s.total[i],
                         heed_cpu_attention_output(j, &s.block.at, query));
  }
}
