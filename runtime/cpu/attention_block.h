/* attention on the CPU: what its two modes share. Some key heads at a time are laid out as panels
 * in the shared scratch: keys transposed, [ceil(Tk / W)][D][W]; values are read as they lie, but
 * for a last narrow panel. A block is up to HEED_ATTENTION_ROWS query rows of one head and a range
 * of its keys, whose scores it holds. Meaning in heed.h and graph/attention_rule.h. */
#ifndef HEED_CPU_ATTENTION_BLOCK_H
#define HEED_CPU_ATTENTION_BLOCK_H

#include "cpu/attention_row.h"
#include "heed/ops.h"

/* Query rows of a block, whole matrix tiles: where tiles are low, some, so that keys and values
 * come from the second cache for all at once. */
#define HEED_ATTENTION_ROWS (HEED_TILE_ROWS < 4 ? 4 * HEED_TILE_ROWS : HEED_TILE_ROWS)
/* Keys of a tile of the streamed mode: panels of D = 64 and values fill a first cache. Whole
 * panels. */
#define HEED_ATTENTION_TILE (256u / HEED_TILE_COLUMNS * HEED_TILE_COLUMNS)
/* Blocks of rows that see a tile of keys one after another before the next tile's turn. */
#define HEED_ATTENTION_BLOCKS 8u

/* Floats of each part of the scratch. */
typedef struct heed_cpu_attention_layout {
  /* shared, a head: panels, last narrow panel of values, flags of its tiles, all */
  size_t key_panels, value_panel, flags, head;
  size_t row; /* a worker: between rows of scores */
  /* a worker, streamed: between rows of the output before its division */
  size_t sums;
  size_t worker; /* everything */
  size_t heads;  /* laid out at a time */
} heed_cpu_attention_layout;

typedef struct heed_cpu_attention_job {
  const heed_cpu_step *step;
  const heed_attention_desc *desc;
  heed_attention_sizes s;
  heed_cpu_attention_layout lay;
  const float *query, *key, *value, *bias, *va; /* va: of the additive score, else NULL */
  const uint8_t *mask, *key_padding, *query_padding;
  float *output, *weights, *logits;
  bool hides;        /* heed_attention_hides */
  size_t first_head; /* of the key heads laid out now, counted through the batch */
  size_t task_rows;  /* query rows of a task */
  size_t tasks;      /* of a head */
} heed_cpu_attention_job;

/* A task's head. */
typedef struct heed_cpu_attention_head {
  size_t batch, head;
  const float *key_panels, *value, *value_panel;
  /* of each tile of keys, not 0: a value is not finite, hidden keys must be stepped over instead of
   * weighed with 0 */
  const float *careful;
} heed_cpu_attention_head;

typedef struct heed_cpu_attention_block {
  heed_cpu_attention_head at;
  size_t query, rows; /* first query and how many */
  /* keys that any row may see; key of column 0 of `scores`, a multiple of HEED_TILE_COLUMNS */
  size_t first, end, base;
  float *scores;
  uint8_t *seen; /* careful: keys that the row at hand may see */
} heed_cpu_attention_block;

#define heed_cpu_attention_lay_out HEED_CPU_SYMBOL(heed_cpu_attention_lay_out)
#define heed_cpu_attention_find_head HEED_CPU_SYMBOL(heed_cpu_attention_find_head)
#define heed_cpu_attention_find_range HEED_CPU_SYMBOL(heed_cpu_attention_find_range)
#define heed_cpu_attention_row_range HEED_CPU_SYMBOL(heed_cpu_attention_row_range)
#define heed_cpu_attention_score HEED_CPU_SYMBOL(heed_cpu_attention_score)
#define heed_cpu_attention_product HEED_CPU_SYMBOL(heed_cpu_attention_product)
#define heed_cpu_attention_logits HEED_CPU_SYMBOL(heed_cpu_attention_logits)
#define heed_cpu_attention_put HEED_CPU_SYMBOL(heed_cpu_attention_put)
#define heed_cpu_attention_fill HEED_CPU_SYMBOL(heed_cpu_attention_fill)
#define heed_cpu_attention_resident HEED_CPU_SYMBOL(heed_cpu_attention_resident)
#define heed_cpu_attention_streamed HEED_CPU_SYMBOL(heed_cpu_attention_streamed)

/* A task: lays out one key head. */
void heed_cpu_attention_lay_out(uint64_t task, uint32_t worker, void *job);
/* The head of a task, and its first query. */
void heed_cpu_attention_find_head(const heed_cpu_attention_job *j, uint64_t task,
                                  heed_cpu_attention_head *head, size_t *query);

/* Sets first, end and base: keys of [low, high) that causal rule, window and masks leave to any
 * row. first == end: none. */
void heed_cpu_attention_find_range(const heed_cpu_attention_job *j, heed_cpu_attention_block *b,
                                   size_t low, size_t high);
/* Keys of the block's range that position and query padding leave to row r. */
void heed_cpu_attention_row_range(const heed_cpu_attention_job *j,
                                  const heed_cpu_attention_block *b, size_t r, size_t *first,
                                  size_t *end);
/* 1: the raw scores of all rows and all keys of the range. */
void heed_cpu_attention_score(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b);
/* out [rows, W] = (add ? out : 0) + x [rows, k] times panel [k, W], by matrix tiles; strides in
 * floats. */
void heed_cpu_attention_product(size_t rows, const float *x, size_t x_stride, const float *panel,
                                size_t panel_stride, size_t k, float *out, size_t out_stride,
                                bool add);
/* 2: logits of the keys [first, end) of row r, in place; returns where they are. */
float *heed_cpu_attention_logits(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b,
                                 size_t r, size_t first, size_t end);

/* Writes columns [low, high) of a query's row of weights or logits (to NULL: nothing) wherever it
 * was asked for: columns [first, end) are x, the others `outside`. */
void heed_cpu_attention_put(const heed_cpu_attention_job *j, const heed_cpu_attention_head *at,
                            float *to, size_t query, size_t low, size_t high, const float *x,
                            size_t first, size_t end, float outside);
/* Output and weights of a row whose logits give none: all are -Inf, or one is NaN or +Inf. */
void heed_cpu_attention_fill(const heed_cpu_attention_job *j, const heed_cpu_attention_head *at,
                             size_t query, heed_cpu_row found);

static inline float *heed_cpu_attention_output(const heed_cpu_attention_job *j,
                                               const heed_cpu_attention_head *at, size_t query) {
  const size_t depth = j->s.value_depth;
  if (j->desc->merge_heads)
    return j->output + ((at->batch * j->s.queries + query) * j->s.heads + at->head) * depth;
  return j->output + ((at->batch * j->s.heads + at->head) * j->s.queries + query) * depth;
}

/* Values of keys from `key` on, columns of panel `d`: where they are and how far apart. */
static inline const float *heed_cpu_attention_values(const heed_cpu_attention_job *j,
                                                     const heed_cpu_attention_head *at, size_t key,
                                                     size_t d, size_t *stride) {
  const bool narrow = d + HEED_TILE_COLUMNS > j->s.value_depth;
  *stride = narrow ? HEED_TILE_COLUMNS : j->s.value_depth;
  return narrow ? at->value_panel + key * HEED_TILE_COLUMNS
                : at->value + key * j->s.value_depth + d;
}

/* The tasks of the two modes: task_rows query rows of one head. */
void heed_cpu_attention_resident(uint64_t task, uint32_t worker, void *job);
void heed_cpu_attention_streamed(uint64_t task, uint32_t worker, void *job);

#endif
