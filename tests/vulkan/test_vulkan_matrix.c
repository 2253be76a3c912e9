/* attention by cooperative matrices: of test_attention's table what that kernel branches on, since
 * a driver in software compiles for seconds for each. With and without maps, of one block of keys
 * and of many. */
#include <stdio.h>

#include "heed/vulkan.h"
#include "support/attention_case.h"

static const struct {
  attention_case c;
  bool maps;
} cases[] = {
    {{.batch = 1,
      .heads = 4,
      .key_heads = 2,
      .queries = 50,
      .keys = 37,
      .depth = 7,
      .value_depth = 9,
      .with = KEY_PADDING | QUERY_PADDING | POISON,
      .merge = true},
     true},
    {{.batch = 2,
      .heads = 2,
      .key_heads = 2,
      .queries = 20,
      .keys = 45,
      .depth = 8,
      .value_depth = 16,
      .softcap = 2.0f,
      .with = BIAS | MASK},
     false},
    {{.batch = 1,
      .heads = 1,
      .key_heads = 1,
      .queries = 50,
      .keys = 9,
      .depth = 8,
      .value_depth = 8,
      .causal = HEED_CAUSAL_BOTTOM_RIGHT,
      .empty_row = HEED_EMPTY_ROW_NAN},
     false},
    {{.batch = 1,
      .heads = 2,
      .key_heads = 2,
      .queries = 40,
      .keys = 600,
      .depth = 8,
      .value_depth = 8,
      .with = SPIKE,
      .rows = true},
     true},
    {{.batch = 1,
      .heads = 2,
      .key_heads = 2,
      .queries = 300,
      .keys = 600,
      .depth = 8,
      .value_depth = 8,
      .with = SPIKE,
      .window = true,
      .left = 30,
      .right = 20},
     false},
    /* -FLT_MAX and -Inf in the bias, NaN and Inf behind it: two passes, and a running maximum. */
    {{.batch = 1,
      .heads = 2,
      .key_heads = 1,
      .queries = 20,
      .keys = 37,
      .depth = 8,
      .value_depth = 8,
      .with = BIAS | LOWEST | HIDE | POISON | SPIKE,
      .empty_row = HEED_EMPTY_ROW_MEAN},
     true},
    {{.batch = 1,
      .heads = 2,
      .key_heads = 1,
      .queries = 20,
      .keys = 600,
      .depth = 8,
      .value_depth = 8,
      .with = BIAS | LOWEST | HIDE | POISON | SPIKE},
     false},
    {{.batch = 1,
      .heads = 2,
      .key_heads = 1,
      .queries = 20,
      .keys = 600,
      .depth = 8,
      .value_depth = 8,
      .with = BIAS | LOWEST | HIDE | POISON | SPIKE | KEY_SPIKE},
     true},
    /* Several matrices deep, of both factors. */
    {{.batch = 1,
      .heads = 2,
      .key_heads = 2,
      .queries = 20,
      .keys = 45,
      .depth = 24,
      .value_depth = 20,
      .with = SPIKE | KEY_PADDING | POISON},
     false},
};

/* A value past 65504 is finite in fp32: it takes part where its key is seen, and only there. */
static void test_large_values(void **state) {
  (void)state;
  enum { QUERIES = 12, KEYS = 20, DEPTH = 8 };
  attention_case c = {.batch = 1,
                      .heads = 1,
                      .key_heads = 1,
                      .queries = QUERIES,
                      .keys = KEYS,
                      .depth = DEPTH,
                      .value_depth = DEPTH,
                      .causal = HEED_CAUSAL_TOP_LEFT};
  attention_tensors t;
  op_test test;
  attention_case_make(&c, 1, &t);
  const float large = 131072.0f; /* before key 5 nobody sees it */
  double *output = t.output;
  const size_t at = 5 * DEPTH + 3;
  for (size_t i = 5; i < QUERIES; i++)
    output[i * DEPTH + 3] += t.weights[i * KEYS + 5] * ((double)large - (double)t.value[at]);
  t.value[at] = large;
  attention_case_define(&test, &c, &t, false);
  test.attention = HEED_ATTENTION_MODE_STREAMED;
  op_test_run(&test, "a value past 65504");
  op_test_end(&test);
  attention_case_release(&t);
}

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char what[300];
    attention_tensors t;
    op_test test;
    if (!test_takes()) continue;
    attention_case_describe(&cases[i].c, i, what, sizeof what);
    attention_case_make(&cases[i].c, i, &t);
    attention_case_define(&test, &cases[i].c, &t, cases[i].maps);
    test.attention = HEED_ATTENTION_MODE_STREAMED;
    assert_true(op_test_has_mode(&test, HEED_ATTENTION_MODE_STREAMED));
    op_test_run(&test, what);
    op_test_end(&test);
    attention_case_release(&t);
  }
}

/* What matrices do at best is measured where products are made with them. */
static void test_ceiling(void **state) {
  (void)state;
  heed_error error;
  heed_vulkan_ceiling ceiling;
  assert_ok(heed_vulkan_measure_ceiling(test_backend_get(0), &ceiling, &error));
  printf("%.3g GFLOP/s by matrices, %.3g without\n", ceiling.matrix_gflops, ceiling.f32_gflops);
  assert_true(ceiling.matrix_gflops > 1e-3 && ceiling.matrix_gflops < 1e8);
  assert_true(test_backend_is_clean(test_backend_get(0)));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases),
                                     cmocka_unit_test(test_large_values),
                                     cmocka_unit_test(test_ceiling)};
  return cmocka_run_group_tests(tests, NULL, test_backend_close_all);
}
