/* linear_attention against its definition in double: full, causal and recurrent; token counts
 * around a chunk of 64. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

static double feature(float x) { return x > 0.0f ? (double)x + 1.0 : exp((double)x); }

/* One head. The sums run on, so that long inputs stay affordable: row i needs keys 0 .. i or
 * all. */
static void expect_head(const float *q, const float *k, const float *v, uint32_t queries,
                        uint32_t keys, uint32_t depth, uint32_t value_depth, bool causal,
                        double *y) {
  double *state = op_test_doubles((size_t)depth * value_depth), *sum = op_test_doubles(depth);
  for (uint32_t i = 0, j = 0; i < queries; i++) {
    for (; j < (causal ? i + 1 : keys); j++)
      for (uint32_t d = 0; d < depth; d++) {
        const double f = feature(k[(size_t)j * depth + d]);
        sum[d] += f;
        for (uint32_t n = 0; n < value_depth; n++)
          state[d * value_depth + n] += f * (double)v[(size_t)j * value_depth + n];
      }
    double total = 0.0;
    for (uint32_t d = 0; d < depth; d++) total += feature(q[(size_t)i * depth + d]) * sum[d];
    for (uint32_t n = 0; n < value_depth; n++) {
      double row = 0.0;
      for (uint32_t d = 0; d < depth; d++)
        row += feature(q[(size_t)i * depth + d]) * state[d * value_depth + n];
      y[(size_t)i * value_depth + n] = row / total;
    }
  }
  free(state);
  free(sum);
}

typedef struct shape {
  uint32_t batch, heads, queries, keys, depth, value_depth;
} shape;

static void run(shape s, bool causal, bool recurrent, bool bits, uint64_t seed) {
  char what[200];
  test_random random = {seed};
  op_test test;
  const size_t heads = (size_t)s.batch * s.heads;
  float *q = op_test_random(&random, heads * s.queries * s.depth, 1.0f),
        *k = op_test_random(&random, heads * s.keys * s.depth, 1.0f);
  float *v = op_test_random(&random, heads * s.keys * s.value_depth, 1.0f);
  double *y = op_test_doubles(heads * s.queries * s.value_depth);
  for (size_t h = 0; h < heads; h++)
    expect_head(q + h * s.queries * s.depth, k + h * s.keys * s.depth,
                v + h * s.keys * s.value_depth, s.queries, s.keys, s.depth, s.value_depth, causal,
                y + h * s.queries * s.value_depth);
  snprintf(what, sizeof what, "linear_attention B %u H %u Tq %u Tk %u D %u Dv %u%s%s, seed %llu",
           s.batch, s.heads, s.queries, s.keys, s.depth, s.value_depth, causal ? " causal" : "",
           recurrent ? " recurrent" : "", (unsigned long long)seed);
  op_test_begin(&test);
  heed_linear_attention_desc desc = {
      .struct_size = sizeof desc, .causal = causal, .recurrent = recurrent};
  desc.query = op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.heads, s.queries, s.depth), q);
  desc.key = op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.heads, s.keys, s.depth), k);
  desc.value =
      op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.heads, s.keys, s.value_depth), v);
  op_test_expect(&test, heed_define_linear_attention(test.graph, &desc), y);
  op_test_run(&test, what);
  if (bits) op_test_same_bits(&test, what);
  op_test_end(&test);
  free(q);
  free(k);
  free(v);
  free(y);
}

static const uint32_t token_counts[] = {1, 2, 31, 63, 64, 65, 127, 128, 129, 197};
static const uint32_t depths[][2] = {{1, 1}, {16, 16}, {3, 5}, {64, 64}, {13, 33}, {80, 31}};

static void test_full(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 10; i++)
    run((shape){2, 2, token_counts[i], token_counts[9 - i], depths[i % 6][0], depths[i % 6][1]},
        false, false, false, 10 + i);
}

static void test_causal(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 10; i++)
    for (uint32_t form = 0; form < 2; form++)
      run((shape){2, 2, token_counts[i], token_counts[i], depths[i % 6][0], depths[i % 6][1]}, true,
          form == 1, false, 30 + i);
}

/* More heads than one group holds. */
static void test_groups(void **state) {
  (void)state;
  run((shape){1, 9, 2000, 2000, 64, 96}, true, false, true, 50);
  run((shape){1, 9, 2000, 2000, 64, 96}, false, false, true, 51);
}

static void test_long(void **state) {
  (void)state;
  run((shape){1, 1, 16384, 16384, 16, 16}, true, false, false, 60);
  run((shape){1, 1, 16384, 16384, 16, 16}, true, true, false, 61);
  run((shape){1, 1, 16384, 16384, 16, 16}, false, false, false, 62);
}

/* A NaN among the values reaches no earlier row, also inside its chunk. */
static void test_later_nan(void **state) {
  (void)state;
  enum { TOKENS = 70, DEPTH = 4, AT = 66 };
  test_random random = {70};
  float *x = op_test_random(&random, TOKENS * DEPTH, 1.0f),
        *v = op_test_random(&random, TOKENS * DEPTH, 1.0f);
  double *y = op_test_doubles(TOKENS * DEPTH);
  expect_head(x, x, v, TOKENS, TOKENS, DEPTH, DEPTH, true, y);
  v[AT * DEPTH] = NAN;
  for (int i = AT; i < TOKENS; i++) y[i * DEPTH] = (double)NAN;
  for (uint32_t form = 0; form < 2; form++) {
    op_test test;
    op_test_begin(&test);
    heed_linear_attention_desc desc = {
        .struct_size = sizeof desc, .causal = true, .recurrent = form == 1};
    desc.query = desc.key = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 1, TOKENS, DEPTH), x);
    desc.value = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 1, TOKENS, DEPTH), v);
    op_test_expect(&test, heed_define_linear_attention(test.graph, &desc), y);
    op_test_run(&test,
                form ? "linear_attention with a NaN, recurrent" : "linear_attention with a NaN");
    op_test_end(&test);
  }
  free(x);
  free(v);
  free(y);
}

static void wrong(const uint32_t q[4], const uint32_t k[4], const uint32_t v[4], bool causal,
                  bool recurrent, const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_shape query = HEED_SHAPE(q[0], q[1], q[2], q[3]),
                   key = HEED_SHAPE(k[0], k[1], k[2], k[3]),
                   value = HEED_SHAPE(v[0], v[1], v[2], v[3]);
  const heed_linear_attention_desc desc = {sizeof desc,
                                           heed_define_input(test.graph, "q", HEED_F32, &query),
                                           heed_define_input(test.graph, "k", HEED_F32, &key),
                                           heed_define_input(test.graph, "v", HEED_F32, &value),
                                           causal,
                                           recurrent};
  assert_int_equal(heed_define_linear_attention(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  static const uint32_t a[4] = {1, 2, 3, 4}, longer[4] = {1, 2, 5, 4}, wider[4] = {1, 2, 3, 5},
                        more[4] = {1, 3, 3, 4};
  wrong(a, wider, a, false, false, "key: wrong shape");
  wrong(a, more, more, false, false, "key: wrong shape");
  wrong(a, a, longer, false, false, "value: wrong shape");
  wrong(a, longer, longer, true, false, "key: wrong shape");
  wrong(a, a, a, false, true, "recurrent form is causal");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_full), cmocka_unit_test(test_causal),    cmocka_unit_test(test_groups),
      cmocka_unit_test(test_long), cmocka_unit_test(test_later_nan), cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("linear_attention", tests, NULL, test_backend_close_all);
}
