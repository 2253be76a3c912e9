/* attention: what a float mask hides and what it does not, and what comes of NaN and Inf behind it.
 * -Inf in the bias hides as a boolean mask does, -FLT_MAX hides nothing, and a value that is not
 * hidden takes part also with weight 0. Cases for each norm, score, kind of empty row and number of
 * keys, against the definition in double, in every mode; the random sweep draws the same. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/attention_case.h"

/* In each mode that the backend has for the case. */
static void run_modes(op_test *test, const char *what) {
  static const heed_attention_mode modes[] = {HEED_ATTENTION_MODE_RESIDENT,
                                              HEED_ATTENTION_MODE_STREAMED};
  for (uint32_t m = 0; m < 2; m++) {
    char with_mode[400];
    if (!op_test_has_mode(test, modes[m])) continue;
    test->attention = modes[m];
    snprintf(with_mode, sizeof with_mode, "%s, %s", what, m ? "streamed" : "resident");
    op_test_run(test, with_mode);
  }
}

static void run_tensors(const attention_case *c, const attention_tensors *t, const char *what) {
  for (int maps = 0; maps < 2; maps++) {
    op_test test;
    attention_case_define(&test, c, t, maps != 0);
    run_modes(&test, what);
    op_test_end(&test);
  }
}

static void run_case(const attention_case *c, uint64_t seed) {
  char what[300];
  attention_tensors t;
  if (!test_takes()) return;
  attention_case_describe(c, seed, what, sizeof what);
  attention_case_make(c, seed, &t);
  run_tensors(c, &t, what);
  attention_case_release(&t);
}

#define SIZES(d) .batch = 1, .heads = 2, .key_heads = 1, .queries = 11, .depth = d, .value_depth = 8
#define RUN_ALL(cases, seed) \
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], seed + i)

/* Numbers of keys: some of a tile, and more than the tiles of the streamed mode. */
static void test_lowest_hides_nothing(void **state) {
  static const attention_case cases[] = {
      {SIZES(8), .keys = 37, .with = BIAS | LOWEST},
      {SIZES(8), .keys = 37, .with = BIAS | LOWEST | MASK | QUERY_PADDING,
       .empty_row = HEED_EMPTY_ROW_MEAN},
      {SIZES(8), .keys = 600, .with = BIAS | LOWEST, .merge = true},
      {SIZES(8), .keys = 300, .with = BIAS | LOWEST, .causal = HEED_CAUSAL_BOTTOM_RIGHT,
       .rows = true},
      {SIZES(8), .keys = 45, .with = BIAS | LOWEST | MASK, .norm = HEED_NORM_SPARSEMAX,
       .empty_row = HEED_EMPTY_ROW_NAN},
      {SIZES(8), .keys = 45, .with = BIAS | LOWEST | KEY_PADDING, .norm = HEED_NORM_SPARSE_SOFTMAX,
       .threshold = 0.03f},
      {SIZES(8), .keys = 45, .with = BIAS | LOWEST, .score = HEED_SCORE_ADDITIVE, .width = 5,
       .spread = 0.5f},
  };
  (void)state;
  RUN_ALL(cases, 500);
}

static void test_minus_infinity_hides(void **state) {
  static const attention_case cases[] = {
      {SIZES(8), .keys = 37, .with = BIAS | HIDE | POISON | KEY_SPIKE,
       .empty_row = HEED_EMPTY_ROW_NAN},
      {SIZES(8), .keys = 37, .with = BIAS | HIDE | POISON, .empty_row = HEED_EMPTY_ROW_MEAN},
      {SIZES(8), .keys = 300,
       .with = BIAS | HIDE | LOWEST | KEY_PADDING | QUERY_PADDING | POISON | KEY_SPIKE,
       .causal = HEED_CAUSAL_BOTTOM_RIGHT, .rows = true},
      {SIZES(8), .keys = 600, .with = BIAS | HIDE | LOWEST | MASK | POISON, .softcap = 2.0f,
       .merge = true},
      {SIZES(8), .keys = 45, .with = BIAS | HIDE | POISON | KEY_SPIKE, .norm = HEED_NORM_SPARSEMAX},
      {SIZES(8), .keys = 45, .with = BIAS | HIDE | POISON | KEY_SPIKE, .score = HEED_SCORE_ADDITIVE,
       .width = 5, .spread = 0.5f},
  };
  (void)state;
  RUN_ALL(cases, 520);
}

static void test_no_weight_takes_part(void **state) {
  static const attention_case cases[] = {
      {SIZES(8), .keys = 37, .with = BIAS | HIDE | LOWEST | POISON | SPIKE,
       .empty_row = HEED_EMPTY_ROW_MEAN},
      {SIZES(8), .keys = 600, .with = BIAS | LOWEST | SPIKE},
      {SIZES(8), .keys = 300, .with = BIAS | HIDE | LOWEST | KEY_PADDING | POISON | SPIKE,
       .causal = HEED_CAUSAL_BOTTOM_RIGHT, .merge = true},
      {SIZES(8), .keys = 45, .with = SPIKE, .norm = HEED_NORM_SPARSEMAX},
      {SIZES(8), .keys = 45, .with = BIAS | HIDE | POISON | SPIKE, .norm = HEED_NORM_SPARSE_SOFTMAX,
       .threshold = 0.03f},
  };
  (void)state;
  RUN_ALL(cases, 540);
}

/* One row of `keys` logits that the bias alone makes: query and key are 0. */
static void run_logits(uint32_t keys, const float *logits, const float *values,
                       const double *expected, const char *what) {
  const attention_case c = {.batch = 1,
                            .heads = 1,
                            .key_heads = 1,
                            .queries = 3,
                            .keys = keys,
                            .depth = 4,
                            .value_depth = 1,
                            .with = BIAS};
  attention_tensors t;
  if (!test_takes()) return;
  attention_case_make(&c, 1, &t);
  memset(t.query, 0, 3 * 4 * sizeof *t.query);
  free(t.bias);
  t.bias = op_test_zeros(keys);
  memcpy(t.bias, logits, keys * sizeof *logits);
  memcpy(t.bias_dim, (uint32_t[]){1, 1, 1, keys}, sizeof t.bias_dim);
  memcpy(t.value, values, keys * sizeof *values);
  for (uint32_t i = 0; i < 3; i++) t.output[i] = *expected;
  op_test test;
  attention_case_define(&test, &c, &t, false);
  run_modes(&test, what);
  op_test_end(&test);
  attention_case_release(&t);
}

/* By hand, so that the oracle is not the only witness. */
static void test_by_hand_lowest(void **state) {
  (void)state;
  const float low = -FLT_MAX, none = -INFINITY;
  const double mean = (1.0 + 2.0 + 6.0) / 3.0, zero = 0.0, one = 1.0, two = 2.0, four = 4.0;
  float many[700], values[700];
  run_logits(3, (float[]){low, low, low}, (float[]){1, 2, 6}, &mean,
             "-FLT_MAX throughout: the mean");
  run_logits(3, (float[]){none, none, none}, (float[]){NAN, INFINITY, 6}, &zero,
             "-Inf throughout: nothing");
  run_logits(3, (float[]){none, low, none}, (float[]){NAN, 2, INFINITY}, &two,
             "-FLT_MAX between -Inf: the one that is not hidden");
  run_logits(3, (float[]){low, 0, none}, (float[]){7, 1, NAN}, &one, "a number above -FLT_MAX");
  run_logits(4, (float[]){-3.2e38f, low, -3.2e38f, none}, (float[]){3, 90, 5, NAN}, &four,
             "-3.2e38 above -FLT_MAX");
  for (int i = 0; i < 700; i++) {
    many[i] = i < 690 ? none : low;
    values[i] = i < 690 ? NAN : 2.0f;
  }
  run_logits(700, many, values, &two, "tiles of -Inf, then -FLT_MAX");
  for (int i = 0; i < 700; i++) {
    many[i] = i == 3 ? 0.0f : low;
    values[i] = i == 3 ? 4.0f : 1.0f;
  }
  run_logits(700, many, values, &four, "tiles of -FLT_MAX behind a number");
}

static void test_by_hand_no_weight(void **state) {
  (void)state;
  const double nan = (double)NAN, inf = HUGE_VAL;
  float many[700], values[700];
  run_logits(3, (float[]){0, -200, -INFINITY}, (float[]){1, NAN, 1}, &nan,
             "NaN with weight 0, behind the maximum");
  run_logits(3, (float[]){-200, 0, -INFINITY}, (float[]){NAN, 1, 1}, &nan,
             "NaN with weight 0, before the maximum");
  run_logits(3, (float[]){0, -FLT_MAX, 0}, (float[]){1, INFINITY, 1}, &nan, "Inf with weight 0");
  run_logits(3, (float[]){0, 0, -FLT_MAX}, (float[]){1, INFINITY, 1}, &inf, "Inf with a weight");
  for (int i = 0; i < 700; i++) {
    many[i] = i == 3 ? 0.0f : -FLT_MAX;
    values[i] = i == 600 ? NAN : 1.0f;
  }
  run_logits(700, many, values, &nan, "NaN in a tile of -FLT_MAX");
}

/* What the tests of overflow put into query, key and bias is Inf in fp16. */
static void need_f32(void) {
  if (!test_backend_is_half()) return;
  print_message("skipped: logits past F32 need factors past fp16\n");
  skip();
}

static void test_overflow_random(void **state) {
  static const attention_case cases[] = {
      {SIZES(1), .keys = 20, .with = BIAS | LOWEST, .spread = 1e18f},
      {SIZES(8), .keys = 37, .with = OVERFLOWS | SPIKE},
      {SIZES(8), .keys = 600, .with = OVERFLOWS | SPIKE, .empty_row = HEED_EMPTY_ROW_MEAN},
      {SIZES(8), .keys = 600, .with = OVERFLOWS | SPIKE | MASK, .empty_row = HEED_EMPTY_ROW_MEAN},
      {SIZES(8), .keys = 300, .with = OVERFLOWS | SPIKE | BIAS, .rows = true},
      {SIZES(8), .keys = 45, .with = OVERFLOWS | SPIKE, .norm = HEED_NORM_SPARSEMAX},
      {SIZES(8), .keys = 45, .with = OVERFLOWS, .window = true, .left = -1, .right = -1,
       .empty_row = HEED_EMPTY_ROW_NAN},
  };
  (void)state;
  need_f32();
  for (uint64_t seed = 560; seed < 600; seed += 10) RUN_ALL(cases, seed);
}

/* Logits past F32, so -Inf, of key 6 or of all keys; all values are 5, but of key 6. Where a mask
 * or a bias can hide keys it hides; else the value takes part with weight 0. */
typedef struct overflow {
  const char *what;
  float key;  /* times a query of 1e19 and a scale of 1/2 */
  float bias; /* of all keys; 0: no bias */
  bool padding, all;
  heed_empty_row empty_row;
  float value;
  double expected; /* -1: the mean of the finite values */
} overflow;

static void run_overflow(const overflow *o, uint32_t keys, bool maps) {
  const attention_case c = {.batch = 1,
                            .heads = 1,
                            .key_heads = 1,
                            .queries = 2,
                            .keys = keys,
                            .depth = 4,
                            .value_depth = 1,
                            .with = (o->padding ? KEY_PADDING : 0u) | (o->bias < 0.0f ? BIAS : 0u),
                            .empty_row = o->empty_row};
  attention_tensors t;
  if (!test_takes()) return;
  attention_case_make(&c, 3, &t);
  memset(t.query, 0, 2 * 4 * sizeof *t.query);
  memset(t.key, 0, keys * 4 * sizeof *t.key);
  memset(t.key_padding, 1, keys);
  *t.bias = o->bias;
  memcpy(t.bias_dim, (uint32_t[]){1, 1, 1, 1}, sizeof t.bias_dim);
  t.query[0] = t.query[4] = 1e19f;
  for (uint32_t j = 0; j < keys; j++) {
    if (o->all || j == 6) t.key[j * 4] = o->key;
    t.value[j] = j == 6 ? o->value : 5.0f;
  }
  t.output[0] = t.output[1] = o->expected < 0.0 ? 5.0 * (keys - 1) / keys : o->expected;
  free(t.weights);
  free(t.logits);
  t.weights = t.logits = NULL; /* not looked at: they choose the kernel */
  op_test test;
  attention_case_define(&test, &c, &t, maps);
  run_modes(&test, o->what);
  op_test_end(&test);
  attention_case_release(&t);
}

static void test_overflow(void **state) {
  static const double nan = (double)NAN;
  const heed_empty_row zero = HEED_EMPTY_ROW_ZERO, fill = HEED_EMPTY_ROW_NAN,
                       mean = HEED_EMPTY_ROW_MEAN;
  const overflow cases[] = {
      {"one key, no mask", -4e20f, 0, false, false, zero, NAN, nan},
      {"one key, no mask, a number", -4e20f, 0, false, false, zero, 9, 5},
      {"one key, padding", -4e20f, 0, true, false, zero, NAN, 5},
      {"one key, the bias overflows", -3e19f, -3e38f, false, false, zero, INFINITY, 5},
      {"all, no mask, a number", -4e20f, 0, false, true, zero, 9, 0},
      {"all, no mask, NaN", -4e20f, 0, false, true, zero, NAN, nan},
      {"all, no mask, Inf", -4e20f, 0, false, true, zero, INFINITY, nan},
      {"all, no mask, filled with NaN", -4e20f, 0, false, true, fill, 9, nan},
      {"all, no mask, the mean", -4e20f, 0, false, true, mean, 5, 5},
      {"all, no mask, the mean with NaN", -4e20f, 0, false, true, mean, NAN, nan},
      {"all, padding", -4e20f, 0, true, true, zero, NAN, 0},
      {"all, padding, filled with NaN", -4e20f, 0, true, true, fill, 9, nan},
      {"all, padding, the mean", -4e20f, 0, true, true, mean, NAN, -1},
      {"all, the bias overflows", -3e19f, -3e38f, false, true, zero, NAN, 0},
      {"all, the bias overflows, the mean", -3e19f, -3e38f, false, true, mean, INFINITY, -1},
  };
  (void)state;
  need_f32();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int maps = 0; maps < 2; maps++) {
      run_overflow(&cases[i], 9, maps != 0);
      run_overflow(&cases[i], 600, maps != 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand_lowest),       cmocka_unit_test(test_lowest_hides_nothing),
      cmocka_unit_test(test_minus_infinity_hides), cmocka_unit_test(test_by_hand_no_weight),
      cmocka_unit_test(test_no_weight_takes_part), cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_overflow_random),
  };
  return cmocka_run_group_tests_name("attention, hidden", tests, NULL, test_backend_close_all);
}
