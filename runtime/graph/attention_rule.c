/* What the attention op means by position. */
#include "graph/attention_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* Strides of a dense [B|1, H|1, Tq|1, Tk|1] tensor over the whole [B, H, Tq, Tk]: 0 along axes of
 * 1. */
static void broadcast_strides(const heed_graph *graph, heed_value value, uint32_t strides[4]) {
  memset(strides, 0, 4 * sizeof *strides);
  if (!value.id) return;
  const uint32_t *dim = heed_graph_record(graph, value.id)->shape.dim;
  uint32_t step = 1;
  for (int i = 3; i >= 0; i--) {
    strides[i] = dim[i] == 1 ? 0 : step;
    step *= dim[i];
  }
}

void heed_attention_get_sizes(const heed_graph *graph, const heed_attention_desc *desc,
                              heed_attention_sizes *sizes) {
  const uint32_t *q = heed_graph_record(graph, desc->query.id)->shape.dim;
  const uint32_t *v = heed_graph_record(graph, desc->value.id)->shape.dim;
  *sizes = (heed_attention_sizes){.batch = q[0],
                                  .heads = q[1],
                                  .key_heads = v[1],
                                  .queries = q[2],
                                  .keys = v[2],
                                  .depth = q[3],
                                  .value_depth = v[3]};
  HEED_ASSERT(sizes->key_heads && sizes->heads % sizes->key_heads == 0);
  sizes->rows = desc->row_count ? desc->row_count : q[2];
  broadcast_strides(graph, desc->mask, sizes->mask_stride);
  broadcast_strides(graph, desc->bias, sizes->bias_stride);
}

int64_t heed_attention_offset(const heed_attention_desc *desc, uint32_t queries, uint32_t keys) {
  return (int64_t)desc->causal_offset +
         (desc->causal == HEED_CAUSAL_BOTTOM_RIGHT ? (int64_t)keys - (int64_t)queries : 0);
}

void heed_attention_keys_around(const heed_attention_desc *desc, int64_t at, uint32_t keys,
                                uint32_t *first, uint32_t *end) {
  int64_t low = 0, high = keys;
  if (desc->causal != HEED_CAUSAL_NONE && at + 1 < high) high = at + 1;
  if (desc->window && desc->window_left >= 0 && at - desc->window_left > low)
    low = at - desc->window_left;
  if (desc->window && desc->window_right >= 0 && at + desc->window_right + 1 < high)
    high = at + desc->window_right + 1;
  if (high < 0) high = 0;
  if (low > high) low = high;
  HEED_ASSERT(low >= 0 && high <= keys);
  *first = (uint32_t)low;
  *end = (uint32_t)high;
}

void heed_attention_key_range(const heed_attention_desc *desc, uint32_t queries, uint32_t keys,
                              uint32_t i, uint32_t *first, uint32_t *end) {
  *first = 0;
  *end = keys;
  heed_attention_keys_around(desc, (int64_t)i + heed_attention_offset(desc, queries, keys), keys,
                             first, end);
}

bool heed_attention_hides_by_position(const heed_attention_desc *desc) {
  return desc->causal != HEED_CAUSAL_NONE ||
         (desc->window && (desc->window_left >= 0 || desc->window_right >= 0));
}

bool heed_attention_hides(const heed_attention_desc *desc) {
  return desc->mask.id || desc->key_padding.id || desc->bias.id || desc->query_padding.id ||
         heed_attention_hides_by_position(desc);
}

static int descending(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x < y) - (x > y);
}

/* Sparsemax (Martins & Astudillo 2016, algorithm 1): the Euclidean projection of the logits onto
 * the simplex. Logits relative to the largest, beside which 1 would be lost where all are large. */
static void sparsemax_row(const float *logits, double largest, uint32_t n, float *sorted,
                          float *weights) {
  memcpy(sorted, logits, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, descending);
  double sum = 0.0, tau = 0.0;
  for (uint32_t k = 0; k < n; k++) {
    const double z = (double)sorted[k] - largest, next = sum + z;
    if (!(1.0 + (k + 1.0) * z > next)) break;
    sum = next;
    tau = (sum - 1.0) / (k + 1.0);
  }
  for (uint32_t j = 0; j < n; j++) {
    const double z = (double)logits[j] - largest;
    weights[j] = z > tau ? (float)(z - tau) : 0.0f;
  }
}

void heed_attention_norm_row(const heed_attention_desc *desc, const float *logits, uint32_t n,
                             float *sorted, float *weights) {
  float largest = -INFINITY;
  bool broken = false;
  for (uint32_t j = 0; j < n; j++) {
    broken = broken || isnan(logits[j]) || logits[j] == INFINITY;
    if (logits[j] > largest) largest = logits[j];
  }
  if (broken || largest == -INFINITY) {
    const float fill = broken || desc->empty_row == HEED_EMPTY_ROW_NAN ? NAN
                       : desc->empty_row == HEED_EMPTY_ROW_MEAN        ? 1.0f / (float)n
                                                                       : 0.0f;
    for (uint32_t j = 0; j < n; j++) weights[j] = fill;
    return;
  }
  if (desc->norm == HEED_NORM_SPARSEMAX) {
    sparsemax_row(logits, (double)largest, n, sorted, weights);
    return;
  }
  double sum = 0.0;
  for (uint32_t j = 0; j < n; j++) sum += exp((double)logits[j] - (double)largest);
  /* A row keeps its largest weight whatever the threshold, so the kept sum is never 0. */
  double kept = 0.0;
  const bool sparse = desc->norm == HEED_NORM_SPARSE_SOFTMAX;
  for (uint32_t j = 0; j < n; j++) {
    const double weight = exp((double)logits[j] - (double)largest) / sum;
    const bool cut = sparse && weight < (double)desc->threshold && logits[j] != largest;
    weights[j] = cut ? 0.0f : (float)weight;
    kept += cut ? 0.0 : weight;
  }
  for (uint32_t j = 0; sparse && j < n; j++) weights[j] = (float)((double)weights[j] / kept);
}
