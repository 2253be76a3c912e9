/* attention: softmax(score(q, k) ...) v for every head; meaning in heed.h and graph/attention_rule.h.
 *
 * Some key heads at a time are laid out as panels in the shared scratch: keys transposed, [ceil(Tk / W)][D][W]; values are read as
 * they lie, but for a last narrow panel. Then a task takes HEED_TILE_ROWS query rows of one head and does
 *   1 scores (matrix tiles)  2 scale, cap, bias, mask  3 maximum  4 exp and sum  5 weighted sum of the values (matrix tiles)
 * with the whole row of scores in the worker's scratch. Keys outside the rows' causal and window range are not looked at. */
#include <string.h>

#include "cpu/attention_row.h"

/* Scratch for laid-out heads at a time; one head at least. */
#define GROUP_BYTES (4u << 20)

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Floats of each part of the scratch. */
typedef struct layout {
  size_t key_panels, value_panel, head; /* shared, a head: panels, last narrow panel of values, all with the flag */
  size_t row, worker;                   /* a worker: between rows of scores; everything */
  size_t heads;                         /* laid out at a time */
} layout;

typedef struct job {
  const heed_cpu_step *step;
  const heed_attention_desc *desc;
  heed_attention_sizes s;
  layout lay;
  const float *query, *key, *value, *bias, *va; /* va: of the additive score, else NULL */
  const uint8_t *mask, *key_padding, *query_padding;
  float *output, *weights, *logits;
  bool masked;      /* a key may be hidden from a query */
  size_t first_head; /* of the key heads laid out now, counted through the batch */
  size_t blocks;     /* of rows in a head */
} job;

/* A task's rows. */
typedef struct block {
  size_t batch, head, query, rows; /* first query and how many */
  size_t first, end, base;         /* keys that any row may see; key of column 0 of `scores` */
  const float *key_panels, *value, *value_panel;
  bool careful; /* a value is not finite: hidden keys must be stepped over instead of weighed with 0 */
  float *scores, *tile;
  uint8_t *seen; /* careful: keys that the row at hand may see */
  float factor[HEED_TILE_ROWS];
} block;

static size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

static void plan_layout(const heed_attention_sizes *s, layout *lay) {
  const size_t keys = round_up(s->keys, HEED_TILE_COLUMNS);
  lay->key_panels = keys * s->depth;
  lay->value_panel = s->value_depth % HEED_TILE_COLUMNS ? (size_t)s->keys * HEED_TILE_COLUMNS : 0;
  lay->head = round_up(lay->key_panels + lay->value_panel + 1, 16);
  lay->row = keys + HEED_CPU_ROW_PAD;
  lay->worker = HEED_TILE_ROWS * (lay->row + HEED_TILE_COLUMNS) + keys / sizeof(float) + 1;
  const size_t fit = GROUP_BYTES / sizeof(float) / lay->head, all = (size_t)s->batch * s->key_heads;
  lay->heads = fit < 1 ? 1 : MIN(fit, all);
}

static bool has_not_finite(const float *x, size_t count) {
  f32xN sum = f32_set1(0.0f);
  const f32xN zero = sum;
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH) sum = f32_fma(f32_load(x + i), zero, sum);
  float total = f32_reduce_add(sum);
  for (; i < count; i++) total += x[i] * 0.0f;
  return isnan(total);
}

/* Lays out one key head. */
static void lay_out_head(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t head = j->first_head + (size_t)task, keys = j->s.keys, depth = j->s.depth, value_depth = j->s.value_depth;
  float *panels = (float *)(void *)j->step->shared + (size_t)task * j->lay.head;
  const float *key = j->key + head * keys * depth, *value = j->value + head * keys * value_depth;
  for (size_t k = 0; k < keys; k += HEED_TILE_COLUMNS)
    heed_cpu_pack_panel(key + k * depth, depth, (uint32_t)MIN(keys - k, HEED_TILE_COLUMNS), panels + k * depth);
  float *last = panels + j->lay.key_panels;
  const size_t narrow = value_depth % HEED_TILE_COLUMNS;
  for (size_t k = 0; narrow && k < keys; k++) {
    memset(last + k * HEED_TILE_COLUMNS, 0, HEED_TILE_COLUMNS * sizeof *last);
    memcpy(last + k * HEED_TILE_COLUMNS, value + (k + 1) * value_depth - narrow, narrow * sizeof *last);
  }
  last[j->lay.value_panel] = j->masked && has_not_finite(value, keys * value_depth) ? 1.0f : 0.0f;
}

static void find_range(const job *j, block *b) {
  b->first = j->s.keys;
  b->end = 0;
  for (size_t r = 0; r < b->rows; r++) {
    uint32_t first, end;
    heed_attention_key_range(j->desc, j->s.queries, j->s.keys, (uint32_t)(b->query + r), &first, &end);
    if (first == end) continue;
    b->first = MIN(b->first, first);
    b->end = b->end > end ? b->end : end;
  }
  if (b->first > b->end) b->first = b->end;
  b->base = b->first / HEED_TILE_COLUMNS * HEED_TILE_COLUMNS;
}

/* va . tanh(q + k) for one query and the keys of one panel [D][W]. */
static void score_additive(const float *query, const float *panel, const float *va, size_t depth, float *scores) {
  f32xN low = f32_set1(0.0f), high = low;
  for (size_t d = 0; d < depth; d++, panel += HEED_TILE_COLUMNS) {
    const f32xN q = f32_set1(query[d]), factor = f32_set1(va[d]);
    low = f32_fma(factor, f32_tanh(f32_add(q, f32_load(panel))), low);
    high = f32_fma(factor, f32_tanh(f32_add(q, f32_load(panel + HEED_SIMD_WIDTH))), high);
  }
  f32_store(scores, low);
  f32_store(scores + HEED_SIMD_WIDTH, high);
}

static void score(const job *j, const block *b) {
  const size_t depth = j->s.depth;
  const float *query = j->query + ((b->batch * j->s.heads + b->head) * j->s.queries + b->query) * depth;
  for (size_t k = b->base; k < b->end && j->va; k += HEED_TILE_COLUMNS)
    for (size_t r = 0; r < b->rows; r++)
      score_additive(query + r * depth, b->key_panels + k * depth, j->va, depth, b->scores + r * j->lay.row + (k - b->base));
  for (size_t k = b->base; k < b->end && !j->va; k += HEED_TILE_COLUMNS)
    heed_cpu_tile((uint32_t)b->rows, query, depth, b->key_panels + k * depth, HEED_TILE_COLUMNS, depth, b->scores + (k - b->base), j->lay.row, false);
}

static size_t strided(const uint32_t stride[4], size_t batch, size_t head, size_t query, size_t key) {
  return batch * stride[0] + head * stride[1] + query * stride[2] + key * stride[3];
}

/* Writes a whole row [Tk] of weights or logits wherever it was asked for: columns [first, end) are x factor, the others `outside`. */
static void put_row(const job *j, const block *b, float *to, size_t query, const float *x, size_t first, size_t end, float factor, float outside) {
  const size_t keys = j->s.keys, all = j->desc->row_count ? j->desc->row_count : 1;
  for (size_t r = 0; to && r < all; r++) {
    if (j->desc->row_count && j->desc->rows[r] != query) continue;
    float *row = to + ((b->batch * j->s.heads + b->head) * j->s.rows + (j->desc->row_count ? r : query)) * keys;
    for (size_t k = 0; k < first; k++) row[k] = outside;
    heed_cpu_scale_row(x, end - first, factor, row + first);
    for (size_t k = end; k < keys; k++) row[k] = outside;
  }
}

static float *output_row(const job *j, const block *b, size_t query) {
  const size_t depth = j->s.value_depth;
  if (j->desc->merge_heads) return j->output + ((b->batch * j->s.queries + query) * j->s.heads + b->head) * depth;
  return j->output + ((b->batch * j->s.heads + b->head) * j->s.queries + query) * depth;
}

/* Logits of the keys [first, end) that position leaves to the query, from their scores at x. */
static void finish_logits(const job *j, const block *b, size_t query, size_t first, size_t end, float *x) {
  const size_t count = end - first;
  heed_cpu_scale_logits(x, count, j->desc->scale, j->desc->softcap);
  if (j->bias) heed_cpu_bias_logits(x, count, j->bias + strided(j->s.bias_stride, b->batch, b->head, query, first), j->s.bias_stride[3]);
  if (j->mask) heed_cpu_mask_logits(x, count, j->mask + strided(j->s.mask_stride, b->batch, b->head, query, first));
  if (j->key_padding) heed_cpu_mask_logits(x, count, j->key_padding + b->batch * j->s.keys + first);
}

/* y = sum over keys of w v; only over keys that are seen, so that what the others hold cannot matter. */
static void weigh_carefully(const job *j, const block *b, size_t first, size_t end, const float *x, float factor, float *y) {
  const size_t depth = j->s.value_depth;
  memset(y, 0, depth * sizeof *y);
  for (size_t k = first; k < end; k++)
    for (size_t d = 0; b->seen[k - first] && d < depth; d++) y[d] += x[k - first] * b->value[k * depth + d];
  heed_cpu_scale_row(y, depth, factor, y);
}

/* The mean of all values; what is not finite counts as 0, since every key of an empty row is hidden. */
static void average(const job *j, const block *b, float *y) {
  const size_t depth = j->s.value_depth, keys = j->s.keys;
  memset(y, 0, depth * sizeof *y);
  for (size_t k = 0; k < keys; k++)
    for (size_t d = 0; d < depth; d++) {
      const float v = b->value[k * depth + d];
      y[d] += isfinite(v) ? v : 0.0f;
    }
  heed_cpu_scale_row(y, depth, 1.0f / (float)keys, y);
}

/* A row without weights: nothing was allowed, or a logit was NaN or +Inf. */
static void fill_row(const job *j, const block *b, size_t query, heed_cpu_row found) {
  float *y = output_row(j, b, query);
  const bool nan = found == HEED_CPU_ROW_BROKEN || j->desc->empty_row == HEED_EMPTY_ROW_NAN;
  const bool mean = !nan && j->desc->empty_row == HEED_EMPTY_ROW_MEAN;
  put_row(j, b, j->weights, query, b->scores, 0, 0, 0.0f, nan ? NAN : mean ? 1.0f / (float)j->s.keys : 0.0f);
  if (mean) average(j, b, y);
  for (size_t d = 0; !mean && d < j->s.value_depth; d++) y[d] = nan ? NAN : 0.0f;
}

/* Scores of a row to weights before the factor, 0 outside what it may see. */
static heed_cpu_row finish_row(const job *j, block *b, size_t r) {
  const size_t query = b->query + r;
  float *row = b->scores + r * j->lay.row;
  uint32_t first, end;
  heed_attention_key_range(j->desc, j->s.queries, j->s.keys, (uint32_t)query, &first, &end);
  if (first == end || (j->query_padding && !j->query_padding[b->batch * j->s.queries + query])) first = end = (uint32_t)b->first;
  float *x = row + (first - b->base);
  const size_t count = end - first;
  finish_logits(j, b, query, first, end, x);
  put_row(j, b, j->logits, query, x, first, end, 1.0f, -INFINITY);
  for (size_t k = 0; b->careful && k < count; k++) b->seen[k] = (uint8_t)(x[k] != -INFINITY);
  const heed_cpu_row found = heed_cpu_norm_row(j->desc, x, count, &b->factor[r]);
  if (found == HEED_CPU_ROW_WEIGHTS) {
    put_row(j, b, j->weights, query, x, first, end, b->factor[r], 0.0f);
    if (b->careful) weigh_carefully(j, b, first, end, x, b->factor[r], output_row(j, b, query));
    for (size_t k = b->first; k < first; k++) row[k - b->base] = 0.0f;
    for (size_t k = end; k < b->end; k++) row[k - b->base] = 0.0f;
  } else {
    memset(row + (b->first - b->base), 0, (b->end - b->first) * sizeof *row);
    b->factor[r] = 0.0f;
  }
  return found;
}

/* Output columns of all rows: weights times values, panel by panel. */
static void weigh(const job *j, const block *b) {
  const size_t depth = j->s.value_depth, whole = depth / HEED_TILE_COLUMNS * HEED_TILE_COLUMNS;
  for (size_t d = 0; d < depth; d += HEED_TILE_COLUMNS) {
    const bool narrow = d == whole;
    const size_t stride = narrow ? HEED_TILE_COLUMNS : depth, count = narrow ? depth - d : HEED_TILE_COLUMNS;
    const float *panel = narrow ? b->value_panel : b->value + d;
    heed_cpu_tile((uint32_t)b->rows, b->scores + (b->first - b->base), j->lay.row, panel + b->first * stride, stride, b->end - b->first, b->tile,
                  HEED_TILE_COLUMNS, false);
    for (size_t r = 0; r < b->rows; r++)
      heed_cpu_scale_row(b->tile + r * HEED_TILE_COLUMNS, count, b->factor[r], output_row(j, b, b->query + r) + d);
  }
}

static void run_block(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t shared_by = j->s.heads / j->s.key_heads, unit = (size_t)(task / j->blocks), slot = unit / shared_by;
  const size_t key_head = j->first_head + slot;
  const float *panels = (const float *)(const void *)j->step->shared + slot * j->lay.head;
  block b = {.batch = key_head / j->s.key_heads, .query = (size_t)(task % j->blocks) * HEED_TILE_ROWS};
  b.head = key_head % j->s.key_heads * shared_by + unit % shared_by;
  b.rows = MIN(j->s.queries - b.query, HEED_TILE_ROWS);
  b.key_panels = panels;
  b.value_panel = panels + j->lay.key_panels;
  b.value = j->value + key_head * j->s.keys * j->s.value_depth;
  b.careful = b.value_panel[j->lay.value_panel] != 0.0f;
  b.scores = heed_cpu_worker_scratch(j->step, worker);
  b.tile = b.scores + HEED_TILE_ROWS * j->lay.row;
  b.seen = (uint8_t *)(b.tile + HEED_TILE_ROWS * HEED_TILE_COLUMNS);
  find_range(j, &b);
  score(j, &b);
  heed_cpu_row found[HEED_TILE_ROWS];
  for (size_t r = 0; r < b.rows; r++) found[r] = finish_row(j, &b, r);
  if (!b.careful) weigh(j, &b);
  for (size_t r = 0; r < b.rows; r++)
    if (found[r] != HEED_CPU_ROW_WEIGHTS) fill_row(j, &b, b.query + r, found[r]);
}

static void run(const heed_cpu_step *step) {
  const heed_attention_desc *desc = step->node->desc;
  job j = {.step = step, .desc = desc, .output = step->output[0], .weights = step->output[1], .logits = step->output[2]};
  uint32_t slot = 0;
  j.query = heed_cpu_take(step, &slot, desc->query);
  j.key = heed_cpu_take(step, &slot, desc->key);
  j.value = heed_cpu_take(step, &slot, desc->value);
  j.mask = heed_cpu_take(step, &slot, desc->mask);
  j.key_padding = heed_cpu_take(step, &slot, desc->key_padding);
  j.query_padding = heed_cpu_take(step, &slot, desc->query_padding);
  j.bias = heed_cpu_take(step, &slot, desc->bias);
  j.va = heed_cpu_take(step, &slot, desc->va);
  j.masked = j.mask || j.key_padding || j.query_padding || j.bias || desc->causal != HEED_CAUSAL_NONE || desc->window;
  heed_attention_get_sizes(step->plan->graph, desc, &j.s);
  plan_layout(&j.s, &j.lay);
  j.blocks = heed_cpu_parts(j.s.queries, HEED_TILE_ROWS);
  const size_t all = (size_t)j.s.batch * j.s.key_heads;
  for (j.first_head = 0; j.first_head < all; j.first_head += j.lay.heads) {
    const size_t heads = MIN(all - j.first_head, j.lay.heads);
    heed_thread_pool_run(step->pool, heads, lay_out_head, &j);
    heed_thread_pool_run(step->pool, (uint64_t)heads * (j.s.heads / j.s.key_heads) * j.blocks, run_block, &j);
  }
}

/* Whether the layout can be worked out in size_t. */
static bool is_addressable(const heed_attention_sizes *s) {
  const uint64_t keys = (uint64_t)s->keys + HEED_TILE_COLUMNS, head = keys * ((uint64_t)s->depth + HEED_TILE_COLUMNS) + 32;
  return keys * (2 * HEED_TILE_ROWS * sizeof(float)) < SIZE_MAX / 2 && head < SIZE_MAX / (2 * sizeof(float));
}

static void measure(const heed_plan *plan, const heed_node *node, heed_cpu_need *need) {
  heed_attention_sizes s;
  layout lay;
  heed_attention_get_sizes(plan->graph, node->desc, &s);
  if (!is_addressable(&s)) {
    need->shared = UINT64_MAX;
    return;
  }
  plan_layout(&s, &lay);
  need->shared = (uint64_t)lay.heads * lay.head * sizeof(float);
  need->worker = (uint64_t)lay.worker * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_attention) = {0, measure, run};
