/* attention: a table of cases against the definition in double, in every mode; the same bits for
 * any number of threads; NaN. Random cases are in test_attention_sweep.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/attention_case.h"

/* In the backend's own mode, and in each other mode that it has for the case. */
static void run_modes(op_test *test, const char *what) {
  static const char *const names[] = {"", "resident, ", "streamed, "};
  static const heed_attention_mode modes[] = {HEED_ATTENTION_MODE_RESIDENT,
                                              HEED_ATTENTION_MODE_STREAMED};
  bool any = false;
  for (uint32_t m = 0; m < 2; m++) {
    char with_mode[400];
    if (!op_test_has_mode(test, modes[m])) continue;
    test->attention = modes[m];
    snprintf(with_mode, sizeof with_mode, "%s%s", names[modes[m]], what);
    op_test_run(test, with_mode);
    any = true;
  }
  if (!any) op_test_run(test, what);
}

static void run_case(const attention_case *c, uint64_t seed) {
  char what[300];
  attention_tensors t;
  op_test test;
  attention_case_describe(c, seed, what, sizeof what);
  attention_case_make(c, seed, &t);
  for (int maps = 0; maps < 2; maps++) {
    attention_case_define(&test, c, &t, maps != 0);
    run_modes(&test, what);
    op_test_end(&test);
  }
  attention_case_release(&t);
}

static const attention_case cases[] = {
    {.batch = 1, .heads = 1, .key_heads = 1, .queries = 1, .keys = 1, .depth = 1, .value_depth = 1},
    {.batch = 1, .heads = 2, .key_heads = 2, .queries = 3, .keys = 5, .depth = 4, .value_depth = 4},
    {.batch = 2,
     .heads = 3,
     .key_heads = 3,
     .queries = 12,
     .keys = 31,
     .depth = 8,
     .value_depth = 32,
     .merge = true},
    {.batch = 1,
     .heads = 2,
     .key_heads = 1,
     .queries = 13,
     .keys = 32,
     .depth = 64,
     .value_depth = 33,
     .merge = true},
    {.batch = 1,
     .heads = 6,
     .key_heads = 2,
     .queries = 11,
     .keys = 33,
     .depth = 80,
     .value_depth = 64,
     .rows = true},
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 2,
     .keys = 300,
     .depth = 1024,
     .value_depth = 3},
    {.batch = 2,
     .heads = 6,
     .key_heads = 3,
     .queries = 5,
     .keys = 300,
     .depth = 1024,
     .value_depth = 40}, /* heads laid out in several turns */
    {.batch = 2,
     .heads = 3,
     .key_heads = 3,
     .queries = 50,
     .keys = 50,
     .depth = 16,
     .value_depth = 16,
     .merge = true,
     .rows = true},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 197,
     .keys = 197,
     .depth = 64,
     .value_depth = 64,
     .merge = true},
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 40,
     .keys = 40,
     .depth = 8,
     .value_depth = 8,
     .causal = HEED_CAUSAL_TOP_LEFT},
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 9,
     .keys = 50,
     .depth = 8,
     .value_depth = 8,
     .causal = HEED_CAUSAL_BOTTOM_RIGHT},
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 50,
     .keys = 9,
     .depth = 8,
     .value_depth = 8,
     .causal = HEED_CAUSAL_BOTTOM_RIGHT},
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 50,
     .keys = 9,
     .depth = 8,
     .value_depth = 8,
     .causal = HEED_CAUSAL_BOTTOM_RIGHT,
     .empty_row = HEED_EMPTY_ROW_MEAN},
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 50,
     .keys = 9,
     .depth = 8,
     .value_depth = 8,
     .causal = HEED_CAUSAL_BOTTOM_RIGHT,
     .empty_row = HEED_EMPTY_ROW_NAN},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 100,
     .keys = 100,
     .depth = 8,
     .value_depth = 8,
     .window = true,
     .left = 3,
     .right = 2},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 100,
     .keys = 100,
     .depth = 8,
     .value_depth = 8,
     .window = true,
     .left = 0,
     .right = 0},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 100,
     .keys = 70,
     .depth = 8,
     .value_depth = 8,
     .window = true,
     .left = 5,
     .right = -1},
    {.batch = 2,
     .heads = 2,
     .key_heads = 2,
     .queries = 30,
     .keys = 37,
     .depth = 8,
     .value_depth = 8,
     .with = KEY_PADDING | POISON},
    {.batch = 2,
     .heads = 2,
     .key_heads = 2,
     .queries = 30,
     .keys = 37,
     .depth = 8,
     .value_depth = 8,
     .with = KEY_PADDING | POISON | QUERY_PADDING,
     .empty_row = HEED_EMPTY_ROW_MEAN},
    {.batch = 2,
     .heads = 2,
     .key_heads = 2,
     .queries = 30,
     .keys = 37,
     .depth = 8,
     .value_depth = 8,
     .with = KEY_PADDING | POISON,
     .norm = HEED_NORM_SPARSEMAX},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 20,
     .keys = 45,
     .depth = 8,
     .value_depth = 8,
     .norm = HEED_NORM_SPARSE_SOFTMAX,
     .threshold = 0.03f},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 20,
     .keys = 45,
     .depth = 8,
     .value_depth = 8,
     .norm = HEED_NORM_SPARSE_SOFTMAX,
     .threshold = 1.0f},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 20,
     .keys = 45,
     .depth = 8,
     .value_depth = 8,
     .norm = HEED_NORM_SPARSEMAX,
     .with = MASK},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 20,
     .keys = 45,
     .depth = 8,
     .value_depth = 8,
     .softcap = 2.0f,
     .with = BIAS | MASK},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 20,
     .keys = 45,
     .depth = 8,
     .value_depth = 8,
     .scale = -0.7f},
    {.batch = 2,
     .heads = 4,
     .key_heads = 2,
     .queries = 13,
     .keys = 33,
     .depth = 7,
     .value_depth = 8,
     .score = HEED_SCORE_DOT,
     .spread = 0.5f},
    {.batch = 2,
     .heads = 4,
     .key_heads = 2,
     .queries = 13,
     .keys = 33,
     .depth = 7,
     .value_depth = 8,
     .score = HEED_SCORE_GENERAL,
     .with = MASK},
    {.batch = 1,
     .heads = 4,
     .key_heads = 1,
     .queries = 13,
     .keys = 65,
     .depth = 16,
     .value_depth = 5,
     .score = HEED_SCORE_ADDITIVE,
     .width = 24,
     .rows = true},
    {.batch = 2,
     .heads = 2,
     .key_heads = 2,
     .queries = 31,
     .keys = 17,
     .depth = 9,
     .value_depth = 33,
     .score = HEED_SCORE_ADDITIVE,
     .width = 5,
     .with = KEY_PADDING | POISON,
     .causal = HEED_CAUSAL_BOTTOM_RIGHT,
     .merge = true},
    /* Masks that empty whole tiles of keys, and NaN that only some rows see. */
    {.batch = 1,
     .heads = 2,
     .key_heads = 1,
     .queries = 300,
     .keys = 300,
     .depth = 16,
     .value_depth = 24,
     .with = MASK,
     .diagonal = 40},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 100,
     .keys = 290,
     .depth = 8,
     .value_depth = 8,
     .with = MASK | SPIKE,
     .diagonal = 9},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 290,
     .keys = 290,
     .depth = 8,
     .value_depth = 8,
     .with = SPIKE,
     .causal = HEED_CAUSAL_TOP_LEFT},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 290,
     .keys = 290,
     .depth = 8,
     .value_depth = 8,
     .with = SPIKE,
     .window = true,
     .left = 30,
     .right = 20,
     .merge = true},
    {.batch = 1,
     .heads = 2,
     .key_heads = 2,
     .queries = 40,
     .keys = 290,
     .depth = 8,
     .value_depth = 8,
     .with = SPIKE,
     .rows = true},
    /* NaN in a key that some rows see, by each score. */
    {.batch = 1,
     .heads = 2,
     .key_heads = 1,
     .queries = 30,
     .keys = 37,
     .depth = 8,
     .value_depth = 8,
     .with = MASK | KEY_SPIKE},
    {.batch = 1,
     .heads = 2,
     .key_heads = 1,
     .queries = 30,
     .keys = 37,
     .depth = 8,
     .value_depth = 8,
     .with = MASK | KEY_SPIKE,
     .score = HEED_SCORE_GENERAL},
    {.batch = 1,
     .heads = 2,
     .key_heads = 1,
     .queries = 30,
     .keys = 37,
     .depth = 8,
     .value_depth = 8,
     .with = MASK | KEY_SPIKE,
     .score = HEED_SCORE_ADDITIVE,
     .width = 5},
    /* Few values far apart: a row is nearly one-hot, and exp of the rest is 0. */
    {.batch = 1,
     .heads = 1,
     .key_heads = 1,
     .queries = 17,
     .keys = 40,
     .depth = 1,
     .value_depth = 5,
     .spread = 100.0f},
};

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], 100 + i);
}

static void test_same_bits_for_any_threads(void **state) {
  (void)state;
  for (uint64_t seed = 300; seed < 312; seed++) {
    attention_case c = attention_case_random(seed, 1);
    char what[64];
    attention_tensors t;
    op_test test;
    c.queries += 60;
    attention_case_make(&c, seed, &t);
    attention_case_define(&test, &c, &t, true);
    for (int mode = HEED_ATTENTION_MODE_RESIDENT; mode <= HEED_ATTENTION_MODE_STREAMED; mode++) {
      test.attention = (heed_attention_mode)mode;
      snprintf(what, sizeof what, "attention, mode %d, random case, seed %llu", mode,
               (unsigned long long)seed);
      op_test_same_bits(&test, what);
    }
    op_test_end(&test);
    attention_case_release(&t);
  }
}

/* What is not hidden must show: NaN in one key makes every row that sees it NaN, and no other. */
static void test_nan_comes_through(void **state) {
  (void)state;
  attention_case c = {.batch = 1,
                      .heads = 1,
                      .key_heads = 1,
                      .queries = 30,
                      .keys = 30,
                      .depth = 8,
                      .value_depth = 8,
                      .causal = HEED_CAUSAL_TOP_LEFT};
  attention_tensors t;
  op_test test;
  attention_case_make(&c, 9, &t);
  t.key[17 * 8] = NAN;
  for (size_t i = 17 * 8; i < 30 * 8; i++) t.output[i] = (double)NAN;
  attention_case_define(&test, &c, &t, false);
  run_modes(&test, "attention with NaN in key 17, causal");
  op_test_end(&test);
  attention_case_release(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_same_bits_for_any_threads),
      cmocka_unit_test(test_nan_comes_through),
  };
  return cmocka_run_group_tests_name("attention", tests, NULL, test_backend_close_all);
}
