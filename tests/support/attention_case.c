/* Attentions for tests: the definition in double, row by row. */
#include "support/attention_case.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t broadcast_at(const uint32_t dim[4], size_t b, size_t h, size_t i, size_t j) {
  const size_t at[4] = {b, h, i, j};
  size_t offset = 0;
  for (int a = 0; a < 4; a++) offset = offset * dim[a] + (dim[a] == 1 ? 0 : at[a]);
  return offset;
}

static bool allowed(const attention_case *c, const attention_tensors *t, size_t b, size_t h,
                    size_t i, size_t j) {
  const int64_t at = (int64_t)i +
                     (c->causal == HEED_CAUSAL_BOTTOM_RIGHT ? (int64_t)c->keys - (int64_t)c->queries
                                                            : 0) +
                     c->offset + ((c->with & OFFSETS) ? t->offsets[b] : 0),
                k = (int64_t)j;
  if (c->causal != HEED_CAUSAL_NONE && k > at) return false;
  if (c->window && c->left >= 0 && k < at - c->left) return false;
  if (c->window && c->right >= 0 && k > at + c->right) return false;
  if ((c->with & MASK) && !t->mask[broadcast_at(t->mask_dim, b, h, i, j)]) return false;
  if ((c->with & KEY_PADDING) && !t->key_padding[b * c->keys + j]) return false;
  if ((c->with & BIAS) && t->bias[broadcast_at(t->bias_dim, b, h, i, j)] == -INFINITY) return false;
  return !(c->with & QUERY_PADDING) || t->query_padding[b * c->queries + i];
}

/* Whether any key can be hidden in an attention of this kind. */
static bool can_hide(const attention_case *c) {
  return (c->with & (MASK | KEY_PADDING | QUERY_PADDING | BIAS)) || c->causal != HEED_CAUSAL_NONE ||
         (c->window && (c->left >= 0 || c->right >= 0));
}

static int descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Of logits relative to the largest: it does not matter by what all are shifted. */
static double sparsemax_tau(const double *logits, double largest, size_t n) {
  double *sorted = op_test_doubles(n), sum = 0.0, tau = 0.0;
  for (size_t j = 0; j < n; j++) sorted[j] = logits[j] - largest;
  qsort(sorted, n, sizeof *sorted, descending);
  for (size_t k = 0;
       k < n && isfinite(sorted[k]) && 1.0 + (double)(k + 1) * sorted[k] > sum + sorted[k]; k++) {
    sum += sorted[k];
    tau = (sum - 1.0) / (double)(k + 1);
  }
  free(sorted);
  return tau;
}

static double as_weight(double weight) { return weight < (double)FLT_MIN ? 0.0 : weight; }

typedef enum row_kind { WEIGHTS, EMPTY, BROKEN } row_kind;

/* logits -> weights. */
static row_kind norm(const attention_case *c, const double *logits, double *weights) {
  double largest = -HUGE_VAL, sum = 0.0, kept = 0.0;
  for (size_t j = 0; j < c->keys; j++) {
    if (isnan(logits[j]) || logits[j] == HUGE_VAL) return BROKEN;
    largest = fmax(largest, logits[j]);
  }
  if (largest == -HUGE_VAL) return EMPTY;
  if (c->norm == HEED_NORM_SPARSEMAX) {
    const double tau = sparsemax_tau(logits, largest, c->keys);
    for (size_t j = 0; j < c->keys; j++)
      weights[j] = as_weight(fmax(logits[j] - largest - tau, 0.0));
    return WEIGHTS;
  }
  for (size_t j = 0; j < c->keys; j++) sum += exp(logits[j] - largest);
  for (size_t j = 0; j < c->keys; j++) {
    weights[j] = exp(logits[j] - largest) / sum;
    if (c->norm == HEED_NORM_SPARSE_SOFTMAX && weights[j] < (double)c->threshold &&
        logits[j] != largest)
      weights[j] = 0.0;
    kept += weights[j];
  }
  for (size_t j = 0; j < c->keys; j++) weights[j] = as_weight(weights[j] / kept);
  return WEIGHTS;
}

/* q . k, q W k^T, or va . tanh(q Wq + k Wk + b). */
static double score(const attention_case *c, const attention_tensors *t, const float *q,
                    const float *k) {
  const size_t depth = c->depth, width = c->width;
  double sum = 0.0;
  if (c->score == HEED_SCORE_ADDITIVE) {
    for (size_t a = 0; a < width; a++) {
      double inner = (double)t->b[a];
      for (size_t d = 0; d < depth; d++)
        inner += (double)q[d] * (double)t->wq[d * width + a] +
                 (double)k[d] * (double)t->wk[d * width + a];
      sum += (double)t->va[a] * tanh(inner);
    }
    return sum;
  }
  for (size_t d = 0; d < depth; d++) {
    double left = (double)q[d];
    if (c->score == HEED_SCORE_GENERAL) {
      left = 0.0;
      for (size_t e = 0; e < depth; e++) left += (double)q[e] * (double)t->w[e * depth + d];
    }
    sum += left * (double)k[d];
  }
  return sum;
}

static void logits_row(const attention_case *c, const attention_tensors *t, size_t b, size_t h,
                       size_t i, double *logits) {
  const double scale = c->score != HEED_SCORE_SCALED_DOT ? 1.0
                       : c->scale != 0.0f                ? (double)c->scale
                                                         : 1.0 / sqrt((double)c->depth);
  const float *q = t->query + ((b * c->heads + h) * c->queries + i) * c->depth;
  const float *keys =
      t->key + (b * c->key_heads + h / (c->heads / c->key_heads)) * c->keys * c->depth;
  for (size_t j = 0; j < c->keys; j++) {
    double sum = score(c, t, q, keys + j * c->depth) * scale;
    if (c->softcap > 0.0f) sum = (double)c->softcap * tanh(sum / (double)c->softcap);
    float logit = (float)sum;
    if (c->with & BIAS) logit += t->bias[broadcast_at(t->bias_dim, b, h, i, j)];
    logits[j] = allowed(c, t, b, h, i, j) ? (double)logit : -HUGE_VAL;
  }
}

static void oracle_row(const attention_case *c, const attention_tensors *t, size_t b, size_t h,
                       size_t i, double *logits, double *weights, double *y) {
  const float *values =
      t->value + (b * c->key_heads + h / (c->heads / c->key_heads)) * c->keys * c->value_depth;
  logits_row(c, t, b, h, i, logits);
  const row_kind kind = norm(c, logits, weights);
  const bool mean = kind == EMPTY && c->empty_row == HEED_EMPTY_ROW_MEAN;
  const bool nan = kind == BROKEN || (kind == EMPTY && c->empty_row == HEED_EMPTY_ROW_NAN);
  const double fill = nan ? (double)NAN : mean ? 1.0 / c->keys : 0.0;
  for (size_t j = 0; j < c->keys && kind != WEIGHTS; j++) weights[j] = fill;
  for (size_t d = 0; d < c->value_depth; d++) {
    y[d] = nan ? (double)NAN : 0.0;
    for (size_t j = 0; j < c->keys; j++) {
      const bool hidden = can_hide(c) && logits[j] == -HUGE_VAL;
      if (mean && hidden ? (bool)isfinite(values[j * c->value_depth + d]) : !hidden)
        y[d] += weights[j] * (double)values[j * c->value_depth + d];
    }
  }
}

static void oracle(const attention_case *c, attention_tensors *t) {
  const size_t rows = t->row_count ? t->row_count : c->queries, hq = (size_t)c->heads * c->queries;
  double *logits = op_test_doubles(c->keys), *weights = op_test_doubles(c->keys);
  t->output = op_test_doubles(c->batch * hq * c->value_depth);
  t->weights = op_test_doubles((size_t)c->batch * c->heads * rows * c->keys);
  t->logits = op_test_doubles((size_t)c->batch * c->heads * rows * c->keys);
  for (size_t b = 0; b < c->batch; b++)
    for (size_t h = 0; h < c->heads; h++)
      for (size_t i = 0; i < c->queries; i++) {
        const size_t at =
            c->merge ? (b * c->queries + i) * c->heads + h : (b * c->heads + h) * c->queries + i;
        oracle_row(c, t, b, h, i, logits, weights, t->output + at * c->value_depth);
        for (size_t r = 0; r < rows; r++) {
          if (t->row_count ? t->rows[r] != i : r != i) continue;
          memcpy(t->weights + ((b * c->heads + h) * rows + r) * c->keys, weights,
                 c->keys * sizeof *weights);
          memcpy(t->logits + ((b * c->heads + h) * rows + r) * c->keys, logits,
                 c->keys * sizeof *logits);
        }
      }
  free(logits);
  free(weights);
}

static uint8_t *random_bytes(test_random *random, size_t count, uint32_t ones_of_8) {
  uint8_t *bytes = malloc(count);
  assert_non_null(bytes);
  for (size_t i = 0; i < count; i++) bytes[i] = test_random_below(random, 8) < ones_of_8;
  return bytes;
}

/* Whether a query of any head sees the key. */
static bool is_seen(const attention_case *c, const attention_tensors *t, size_t b, size_t key_head,
                    size_t j) {
  const size_t group = c->heads / c->key_heads;
  bool seen = false;
  for (size_t h = key_head * group; h < (key_head + 1) * group && !seen; h++)
    for (size_t i = 0; i < c->queries && !seen; i++) seen = allowed(c, t, b, h, i, j);
  return seen;
}

/* Whether a query sees any key. */
static bool sees(const attention_case *c, const attention_tensors *t, size_t b, size_t h,
                 size_t i) {
  bool any = false;
  for (size_t j = 0; j < c->keys && !any; j++) any = allowed(c, t, b, h, i, j);
  return any;
}

/* NaN and Inf in keys and values that nobody sees, NaN in queries that see nothing. */
static void poison(const attention_case *c, attention_tensors *t) {
  for (size_t b = 0; b < c->batch; b++)
    for (size_t h = 0; h < c->heads; h++)
      for (size_t i = 0; i < c->queries; i++)
        if (!sees(c, t, b, h, i)) t->query[((b * c->heads + h) * c->queries + i) * c->depth] = NAN;
  for (size_t b = 0; b < c->batch; b++)
    for (size_t h = 0; h < c->key_heads; h++)
      for (size_t j = 0; j < c->keys; j++) {
        if (is_seen(c, t, b, h, j)) continue;
        t->key[((b * c->key_heads + h) * c->keys + j) * c->depth] = j % 3 ? NAN : -INFINITY;
        t->value[((b * c->key_heads + h) * c->keys + j) * c->value_depth + c->value_depth / 2] =
            j % 2 ? INFINITY : NAN;
      }
}

/* -FLT_MAX, then -Inf, in rows, keys and entries of the bias. */
static void put_extremes(const attention_case *c, attention_tensors *t, size_t count,
                         test_random *random) {
  static const uint32_t kinds[] = {LOWEST, HIDE};
  for (int k = 0; k < 2; k++) {
    if (!(c->with & kinds[k])) continue;
    uint8_t *keys = random_bytes(random, c->keys, 1), *rows = random_bytes(random, c->queries, 2);
    for (size_t e = 0; e < count; e++) {
      if (!keys[e % t->bias_dim[3]] && !rows[e / t->bias_dim[3] % t->bias_dim[2]] &&
          test_random_below(random, 8))
        continue;
      t->bias[e] = kinds[k] == HIDE               ? -INFINITY
                   : test_random_below(random, 4) ? -FLT_MAX
                                                  : -3.2e38f;
    }
    free(keys);
    free(rows);
  }
}

/* Products that are -Inf in F32 in any order of summation, and 0 for what else their queries see.
 */
static void put_overflows(const attention_case *c, attention_tensors *t, test_random *random) {
  const size_t queries = (size_t)c->batch * c->heads * c->queries,
               keys = (size_t)c->batch * c->key_heads * c->keys;
  const bool all = test_random_below(random, 2) != 0;
  for (size_t i = 0; i < queries; i++) {
    float *q = t->query + i * c->depth;
    const bool large = test_random_below(random, 3) == 0;
    if (large) memset(q, 0, c->depth * sizeof *q);
    *q = large ? 1e20f : 0.0f;
  }
  for (size_t j = 0; j < keys; j++)
    t->key[j * c->depth] = all || test_random_below(random, 3) == 0 ? -1e20f : 0.0f;
}

/* NaN in the middle key of each head. */
static void put_spikes(const attention_case *c, attention_tensors *t) {
  for (size_t i = 0; i < (size_t)c->batch * c->key_heads; i++) {
    if (c->with & SPIKE) t->value[(i * c->keys + c->keys / 2) * c->value_depth] = NAN;
    if (c->with & KEY_SPIKE) t->key[(i * c->keys + c->keys / 2) * c->depth] = NAN;
  }
}

/* Few enough positions that most rows see some keys and not others. */
static void put_offsets(const attention_case *c, uint64_t seed, attention_tensors *t) {
  test_random random = {seed + 1000003};
  t->offsets = malloc(c->batch * sizeof *t->offsets);
  assert_non_null(t->offsets);
  for (uint32_t b = 0; b < c->batch; b++)
    t->offsets[b] = (int32_t)test_random_below(&random, c->keys + 8) - 6;
}

void attention_case_make(const attention_case *c, uint64_t seed, attention_tensors *t) {
  test_random random = {seed};
  const float spread = c->spread != 0.0f ? c->spread : 1.0f;
  memset(t, 0, sizeof *t);
  t->query = op_test_random(&random, (size_t)c->batch * c->heads * c->queries * c->depth, spread);
  t->key = op_test_random(&random, (size_t)c->batch * c->key_heads * c->keys * c->depth, spread);
  t->value =
      op_test_random(&random, (size_t)c->batch * c->key_heads * c->keys * c->value_depth, 1.0f);
  t->w = op_test_random(&random, (size_t)c->depth * c->depth, 0.3f);
  t->wq = op_test_random(&random, (size_t)c->depth * (c->width + 1), 0.3f);
  t->wk = op_test_random(&random, (size_t)c->depth * (c->width + 1), 0.3f);
  t->b = op_test_random(&random, c->width + 1, 0.3f);
  t->va = op_test_random(&random, c->width + 1, 1.0f);
  const uint32_t whole[4] = {c->batch, c->heads, c->queries, c->keys};
  size_t masks = 1, biases = 1;
  for (int a = 0; a < 4; a++) {
    t->mask_dim[a] = a < 2 && test_random_below(&random, 2) ? 1 : whole[a];
    t->bias_dim[a] = test_random_below(&random, 3) == 0 ? 1 : whole[a];
    masks *= t->mask_dim[a];
    biases *= t->bias_dim[a];
  }
  t->mask = random_bytes(&random, masks, 6);
  for (size_t i = 0; c->diagonal && i < masks; i++)
    if (i / c->keys % c->queries / c->diagonal != i % c->keys / c->diagonal) t->mask[i] = 0;
  t->bias = op_test_random(&random, biases, 1.0f);
  t->key_padding = random_bytes(&random, (size_t)c->batch * c->keys, 6);
  t->query_padding = random_bytes(&random, (size_t)c->batch * c->queries, 6);
  put_offsets(c, seed, t);
  put_extremes(c, t, biases, &random);
  if (c->with & OVERFLOWS) put_overflows(c, t, &random);
  if (c->with & POISON) poison(c, t);
  put_spikes(c, t);
  if (c->rows) t->row_count = 5;
  /* unsorted, with repeats */
  for (uint32_t r = 0; r < 5; r++) t->rows[r] = test_random_below(&random, c->queries);
  oracle(c, t);
}

void attention_case_release(attention_tensors *t) {
  free(t->query);
  free(t->key);
  free(t->value);
  free(t->bias);
  free(t->w);
  free(t->wq);
  free(t->wk);
  free(t->b);
  free(t->va);
  free(t->mask);
  free(t->key_padding);
  free(t->query_padding);
  free(t->offsets);
  free(t->output);
  free(t->weights);
  free(t->logits);
}

void attention_case_define(op_test *test, const attention_case *c, const attention_tensors *t,
                           bool maps) {
  heed_attention_desc desc = {.struct_size = sizeof desc,
                              .norm = c->norm,
                              .causal = c->causal,
                              .window = c->window,
                              .window_left = c->left,
                              .window_right = c->right,
                              .causal_offset = c->offset,
                              .softcap = c->softcap,
                              .scale = c->scale,
                              .threshold = c->threshold,
                              .empty_row = c->empty_row,
                              .merge_heads = c->merge,
                              .score = c->score};
  op_test_begin(test);
  desc.query =
      op_test_input(test, HEED_F32, HEED_SHAPE(c->batch, c->heads, c->queries, c->depth), t->query);
  desc.key =
      op_test_input(test, HEED_F32, HEED_SHAPE(c->batch, c->key_heads, c->keys, c->depth), t->key);
  desc.value = op_test_input(test, HEED_F32,
                             HEED_SHAPE(c->batch, c->key_heads, c->keys, c->value_depth), t->value);
  if (c->score == HEED_SCORE_GENERAL)
    desc.w = op_test_constant(test, HEED_F32, HEED_SHAPE(c->depth, c->depth), t->w);
  if (c->score == HEED_SCORE_ADDITIVE) {
    desc.wq = op_test_constant(test, HEED_F32, HEED_SHAPE(c->depth, c->width), t->wq);
    desc.wk = op_test_constant(test, HEED_F32, HEED_SHAPE(c->depth, c->width), t->wk);
    desc.b = op_test_constant(test, HEED_F32, HEED_SHAPE(c->width), t->b);
    desc.va = op_test_constant(test, HEED_F32, HEED_SHAPE(c->width), t->va);
  }
  const uint32_t *m = t->mask_dim, *b = t->bias_dim;
  if (c->with & MASK)
    desc.mask = op_test_input(test, HEED_U8, HEED_SHAPE(m[0], m[1], m[2], m[3]), t->mask);
  if (c->with & KEY_PADDING)
    desc.key_padding = op_test_input(test, HEED_U8, HEED_SHAPE(c->batch, c->keys), t->key_padding);
  if (c->with & QUERY_PADDING)
    desc.query_padding =
        op_test_input(test, HEED_U8, HEED_SHAPE(c->batch, c->queries), t->query_padding);
  if (c->with & OFFSETS)
    desc.causal_offsets = op_test_input(test, HEED_I32, HEED_SHAPE(c->batch), t->offsets);
  if (c->with & BIAS)
    desc.bias = op_test_input(test, HEED_F32, HEED_SHAPE(b[0], b[1], b[2], b[3]), t->bias);
  if (t->row_count) {
    desc.rows = t->rows;
    desc.row_count = t->row_count;
  }
  const heed_attention_values values = heed_define_attention(test->graph, &desc);
  op_test_expect(test, values.output, t->output);
  if (!maps) return;
  op_test_expect(test, values.weights, t->weights);
  op_test_expect(test, values.logits, t->logits);
}

void attention_case_describe(const attention_case *c, uint64_t seed, char *to, size_t size) {
  snprintf(to, size,
           "attention B %u H %u Hk %u Tq %u Tk %u D %u Dv %u, with %u, norm %d, causal %d, window "
           "%d [%d, %d], offset %d, softcap %g, scale %g, empty %d, merge %d, "
           "rows %d, score %d of %u, diagonal %u, seed %llu",
           c->batch, c->heads, c->key_heads, c->queries, c->keys, c->depth, c->value_depth, c->with,
           (int)c->norm, (int)c->causal, c->window, c->left, c->right, c->offset,
           (double)c->softcap, (double)c->scale, (int)c->empty_row, c->merge, c->rows,
           (int)c->score, c->width, c->diagonal, (unsigned long long)seed);
}

/* A number from one of the ranges that start where the one before ends. */
static uint32_t sized(test_random *kind, test_random *shape, const uint32_t ends[4]) {
  const uint32_t range = test_random_below(kind, 3);
  return ends[range] + test_random_below(shape, ends[range + 1] - ends[range]);
}

/* Draws of their own, so that the rest of a seed's case stays as it is. */
static void put_random_offsets(attention_case *c, uint64_t kind) {
  test_random r = {(kind + 1) * 15485863};
  if (test_random_below(&r, 2)) c->offset = (int32_t)test_random_below(&r, 30) - 12;
  if (test_random_below(&r, 4) == 0) c->with |= OFFSETS;
}

attention_case attention_case_random(uint64_t seed, uint64_t alike) {
  test_random r = {(seed / alike + 1) * 104729}, shape = {(seed + 1) * 7919};
  static const uint32_t queries[] = {1, 3, 12, 41}, keys[] = {1, 17, 100, 331};
  attention_case c = {.batch = 1 + test_random_below(&shape, 2),
                      .key_heads = 1 + test_random_below(&shape, 2)};
  c.heads = c.key_heads * (1 + test_random_below(&shape, 3));
  c.queries = sized(&r, &shape, queries);
  c.keys = sized(&r, &shape, keys); /* the last range goes over several tiles */
  const uint32_t widths[] = {5, 20, 70};
  c.depth = 1 + test_random_below(&r, widths[test_random_below(&r, 3)]);
  c.value_depth = 1 + test_random_below(&r, widths[test_random_below(&r, 3)]);
  c.with = test_random_below(&r, 16);
  c.diagonal = test_random_below(&r, 2) ? 1 + test_random_below(&r, 60) : 0;
  c.norm = test_random_below(&r, 3)   ? HEED_NORM_SOFTMAX
           : test_random_below(&r, 2) ? HEED_NORM_SPARSEMAX
                                      : HEED_NORM_SPARSE_SOFTMAX;
  c.threshold = 0.001f * (float)test_random_below(&r, 60);
  c.causal = (heed_causal)test_random_below(&r, 3);
  c.window = test_random_below(&r, 3) == 0;
  c.left = (int32_t)test_random_below(&r, 12) - 1;
  c.right = (int32_t)test_random_below(&r, 12) - 1;
  c.softcap = test_random_below(&r, 3) ? 0.0f : 3.0f;
  c.scale = test_random_below(&r, 3) ? 0.0f : 0.3f;
  c.empty_row = (heed_empty_row)test_random_below(&r, 3);
  c.score =
      test_random_below(&r, 3) ? HEED_SCORE_SCALED_DOT : (heed_score)(1 + test_random_below(&r, 3));
  c.width = 1 + test_random_below(&r, 30);
  if (c.score != HEED_SCORE_SCALED_DOT) c.spread = 0.5f;
  c.merge = test_random_below(&r, 2) != 0;
  c.rows = test_random_below(&r, 3) == 0;
  if (can_hide(&c) && test_random_below(&r, 2)) c.with |= POISON;
  if ((c.with & BIAS) && test_random_below(&r, 2)) c.with |= HIDE;
  if ((c.with & BIAS) && test_random_below(&r, 3) == 0) c.with |= LOWEST;
  if (test_random_below(&r, 6) == 0) c.with |= SPIKE;
  if (can_hide(&c) && test_random_below(&r, 6) == 0) c.with |= KEY_SPIKE;
  put_random_offsets(&c, seed / alike);
  if (c.score > HEED_SCORE_DOT || test_random_below(&r, 6)) return c;
  c.with |= OVERFLOWS;
  if (test_random_below(&r, 3)) return c;
  c.with &= OVERFLOWS | SPIKE; /* nothing that can hide a key */
  c.causal = HEED_CAUSAL_NONE;
  c.window = false;
  return c;
}
