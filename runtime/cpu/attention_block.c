/* attention on the CPU: what its two modes share; see attention_block.h. Passes 1 scores (matrix
 * tiles) and 2 scale, cap, bias, mask. */
#include "cpu/attention_block.h"

#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))

static bool has_not_finite(const float *x, size_t count) {
  f32xN sum = f32_set1(0.0f);
  const f32xN zero = sum;
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH)
    sum = f32_fma(f32_load(x + i), zero, sum);
  float total = f32_reduce_add(sum);
  for (; i < count; i++) total += x[i] * 0.0f;
  return isnan(total);
}

void heed_cpu_attention_lay_out(uint64_t task, uint32_t worker, void *user) {
  const heed_cpu_attention_job *j = user;
  (void)worker;
  const size_t head = j->first_head + (size_t)task, keys = j->s.keys, depth = j->s.depth,
               value_depth = j->s.value_depth;
  float *panels = (float *)(void *)j->step->shared + (size_t)task * j->lay.head;
  const float *key = j->key + head * keys * depth, *value = j->value + head * keys * value_depth;
  for (size_t k = 0; k < keys; k += HEED_TILE_COLUMNS)
    heed_cpu_pack_panel(key + k * depth, depth, (uint32_t)MIN(keys - k, HEED_TILE_COLUMNS),
                        panels + k * depth);
  float *last = panels + j->lay.key_panels;
  const size_t narrow = value_depth % HEED_TILE_COLUMNS;
  for (size_t k = 0; narrow && k < keys; k++) {
    memset(last + k * HEED_TILE_COLUMNS, 0, HEED_TILE_COLUMNS * sizeof *last);
    memcpy(last + k * HEED_TILE_COLUMNS, value + (k + 1) * value_depth - narrow,
           narrow * sizeof *last);
  }
  float *flag = last + j->lay.value_panel;
  for (size_t k = 0; k < keys; k += HEED_ATTENTION_TILE)
    *flag++ = j->hides && has_not_finite(value + k * value_depth,
                                         MIN(keys - k, HEED_ATTENTION_TILE) * value_depth)
                  ? 1.0f
                  : 0.0f;
}

void heed_cpu_attention_find_head(const heed_cpu_attention_job *j, uint64_t task,
                                  heed_cpu_attention_head *at, size_t *query) {
  const size_t shared_by = j->s.heads / j->s.key_heads, unit = (size_t)(task / j->tasks),
               slot = unit / shared_by;
  const size_t key_head = j->first_head + slot;
  at->batch = key_head / j->s.key_heads;
  at->head = key_head % j->s.key_heads * shared_by + unit % shared_by;
  at->key_panels = (const float *)(const void *)j->step->shared + slot * j->lay.head;
  at->value_panel = at->key_panels + j->lay.key_panels;
  at->value = j->value + key_head * j->s.keys * j->s.value_depth;
  at->careful = at->value_panel + j->lay.value_panel;
  *query = (size_t)(task % j->tasks) * j->task_rows;
}

static size_t strided(const uint32_t stride[4], size_t batch, size_t head, size_t query,
                      size_t key) {
  return batch * stride[0] + head * stride[1] + query * stride[2] + key * stride[3];
}

void heed_cpu_attention_row_range(const heed_cpu_attention_job *j,
                                  const heed_cpu_attention_block *b, size_t r, size_t *first,
                                  size_t *end) {
  *first = b->first;
  *end = b->end;
  uint32_t low, high;
  heed_attention_key_range(j->desc, j->s.queries, j->s.keys, (uint32_t)(b->query + r), &low, &high);
  *first = low > b->first ? low : b->first;
  *end = MIN(high, b->end);
  if (*first >= *end ||
      (j->query_padding && !j->query_padding[b->at.batch * j->s.queries + b->query + r]))
    *first = *end = b->first;
}

/* Moves the ends of the range inwards past keys that a U8 row hides from every one of `rows` rows,
 * `stride` apart. */
static void trim(const uint8_t *seen, size_t stride, size_t rows, size_t *first, size_t *end) {
  size_t low = *end, high = *first;
  for (size_t r = 0; r < rows; r++, seen += stride) {
    size_t k = *first;
    while (k < low && !seen[k]) k++;
    low = k;
    for (k = *end; k > high && !seen[k - 1];) k--;
    high = k;
  }
  *first = low < high ? low : high;
  *end = high;
}

void heed_cpu_attention_find_range(const heed_cpu_attention_job *j, heed_cpu_attention_block *b,
                                   size_t low, size_t high) {
  size_t least = high, most = low;
  b->first = low;
  b->end = high;
  for (size_t r = 0; r < b->rows; r++) {
    size_t first, end;
    heed_cpu_attention_row_range(j, b, r, &first, &end);
    if (first == end) continue;
    least = MIN(least, first);
    most = end > most ? end : most;
  }
  if (least > most) least = most;
  if (j->key_padding && least < most)
    trim(j->key_padding + b->at.batch * j->s.keys, 0, 1, &least, &most);
  if (j->mask && least < most)
    trim(j->mask + strided(j->s.mask_stride, b->at.batch, b->at.head, b->query, 0),
         j->s.mask_stride[2], b->rows, &least, &most);
  b->first = least;
  b->end = most;
  b->base = least / HEED_TILE_COLUMNS * HEED_TILE_COLUMNS;
}

/* va . tanh(q + k) for one query and the keys of one panel [D][W]. */
static void score_additive(const float *query, const float *panel, const float *va, size_t depth,
                           float *scores) {
  for (size_t n = 0; n < HEED_TILE_COLUMNS; n += HEED_SIMD_WIDTH) {
    f32xN sum = f32_set1(0.0f);
    for (size_t d = 0; d < depth; d++) {
      const f32xN key = f32_load(panel + d * HEED_TILE_COLUMNS + n);
      sum = f32_fma(f32_set1(va[d]), f32_tanh(f32_add(f32_set1(query[d]), key)), sum);
    }
    f32_store(scores + n, sum);
  }
}

void heed_cpu_attention_product(size_t rows, const float *x, size_t x_stride, const float *panel,
                                size_t panel_stride, size_t k, float *out, size_t out_stride,
                                bool add) {
  for (size_t r = 0; r < rows; r += HEED_TILE_ROWS)
    heed_cpu_tile((uint32_t)MIN(rows - r, HEED_TILE_ROWS), x + r * x_stride, x_stride, panel,
                  panel_stride, k, out + r * out_stride, out_stride, add);
}

void heed_cpu_attention_score(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b) {
  const size_t depth = j->s.depth, row = j->lay.row;
  const float *query =
      j->query + ((b->at.batch * j->s.heads + b->at.head) * j->s.queries + b->query) * depth;
  const bool additive = j->va;
  for (size_t k = b->base; k < b->end && additive; k += HEED_TILE_COLUMNS)
    for (size_t r = 0; r < b->rows; r++)
      score_additive(query + r * depth, b->at.key_panels + k * depth, j->va, depth,
                     b->scores + r * row + (k - b->base));
  size_t end = additive ? b->base : b->end;
  /* A last panel that is half empty or more. */
  const size_t over = (end - b->base) % HEED_TILE_COLUMNS;
  if (HEED_TILE_NARROW && over > 0 && over <= HEED_SIMD_WIDTH) {
    end -= over;
    for (size_t r = 0; r < b->rows; r += HEED_TILE_ROWS)
      heed_cpu_narrow_tile((uint32_t)MIN(b->rows - r, HEED_TILE_ROWS), query + r * depth, depth,
                           b->at.key_panels + end * depth, HEED_TILE_COLUMNS, depth,
                           b->scores + r * row + (end - b->base), row);
  }
  for (size_t k = b->base; k < end; k += HEED_TILE_COLUMNS)
    heed_cpu_attention_product(b->rows, query, depth, b->at.key_panels + k * depth,
                               HEED_TILE_COLUMNS, depth, b->scores + (k - b->base), row, false);
}

float *heed_cpu_attention_logits(const heed_cpu_attention_job *j, const heed_cpu_attention_block *b,
                                 size_t r, size_t first, size_t end) {
  const size_t count = end - first, query = b->query + r, batch = b->at.batch, head = b->at.head;
  float *x = b->scores + r * j->lay.row + (first - b->base);
  heed_cpu_scale_logits(x, count, j->desc->scale, j->desc->softcap);
  if (j->bias)
    heed_cpu_bias_logits(x, count, j->bias + strided(j->s.bias_stride, batch, head, query, first),
                         j->s.bias_stride[3]);
  if (j->mask)
    heed_cpu_mask_logits(x, count, j->mask + strided(j->s.mask_stride, batch, head, query, first));
  if (j->key_padding) heed_cpu_mask_logits(x, count, j->key_padding + batch * j->s.keys + first);
  return x;
}

void heed_cpu_attention_put(const heed_cpu_attention_job *j, const heed_cpu_attention_head *at,
                            float *to, size_t query, size_t low, size_t high, const float *x,
                            size_t first, size_t end, float outside) {
  const size_t chosen = j->desc->row_count, all = chosen ? chosen : 1;
  for (size_t r = 0; to && r < all; r++) {
    if (chosen && j->desc->rows[r] != query) continue;
    float *row =
        to + ((at->batch * j->s.heads + at->head) * j->s.rows + (chosen ? r : query)) * j->s.keys;
    for (size_t k = low; k < first; k++) row[k] = outside;
    if (first < end) memcpy(row + first, x, (end - first) * sizeof *row);
    for (size_t k = end; k < high; k++) row[k] = outside;
  }
}

/* The mean of all values, or 0 times each: 0 NaN = 0 Inf = NaN. Where keys can be hidden all of
 * them are: what is not finite counts as 0 then. */
static void weigh_alike(const heed_cpu_attention_job *j, const heed_cpu_attention_head *at,
                        bool mean, float *y) {
  const size_t depth = j->s.value_depth;
  const float weight = mean ? 1.0f : 0.0f;
  for (size_t k = 0; k < j->s.keys; k++)
    for (size_t d = 0; d < depth; d++) {
      const float v = at->value[k * depth + d];
      y[d] += j->hides && !isfinite(v) ? 0.0f : weight * v;
    }
  if (mean) heed_cpu_scale_row(y, depth, 1.0f / (float)j->s.keys, y);
}

void heed_cpu_attention_fill(const heed_cpu_attention_job *j, const heed_cpu_attention_head *at,
                             size_t query, heed_cpu_row found) {
  float *y = heed_cpu_attention_output(j, at, query);
  const bool nan = found == HEED_CPU_ROW_BROKEN || j->desc->empty_row == HEED_EMPTY_ROW_NAN;
  const bool mean = !nan && j->desc->empty_row == HEED_EMPTY_ROW_MEAN;
  heed_cpu_attention_put(j, at, j->weights, query, 0, j->s.keys, NULL, 0, 0,
                         nan    ? NAN
                         : mean ? 1.0f / (float)j->s.keys
                                : 0.0f);
  for (size_t d = 0; d < j->s.value_depth; d++) y[d] = nan ? NAN : 0.0f;
  if (mean || (!nan && !j->hides)) weigh_alike(j, at, mean, y);
}
