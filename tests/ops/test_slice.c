/* slice against index arithmetic: windows inside, beyond and across the ends, steps of any sign,
 * both dtypes. Exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

static double element(const heed_slice_desc *desc, const heed_shape *x_shape, const float *x,
                      size_t at) {
  size_t from = 0, stride = 1;
  for (uint32_t i = x_shape->rank; i-- > 0; at /= desc->shape.dim[i]) {
    const int64_t index = desc->start[i] + (int64_t)(at % desc->shape.dim[i]) * desc->step[i];
    if (index < 0 || index >= (int64_t)x_shape->dim[i]) return (double)desc->value;
    from += (size_t)index * stride;
    stride *= x_shape->dim[i];
  }
  return (double)x[from];
}

static void run(heed_shape shape, heed_slice_desc desc, heed_dtype dtype, uint64_t seed) {
  char what[200], text[HEED_SHAPE_TEXT_SIZE], into[HEED_SHAPE_TEXT_SIZE];
  test_random random = {seed};
  op_test test;
  const size_t count = (size_t)heed_shape_count(&shape);
  float *x = op_test_random(&random, count, 100.0f);
  int32_t *whole = malloc(count * sizeof *whole);
  assert_non_null(whole);
  for (size_t i = 0; i < count; i++) {
    whole[i] = (int32_t)x[i];
    if (dtype == HEED_I32) x[i] = (float)whole[i];
  }
  const size_t results = (size_t)heed_shape_count(&desc.shape);
  double *y = op_test_doubles(results);
  for (size_t i = 0; i < results; i++) y[i] = element(&desc, &shape, x, i);
  snprintf(what, sizeof what, "slice %s to %s, seed %llu", heed_shape_text(&shape, text),
           heed_shape_text(&desc.shape, into), (unsigned long long)seed);
  op_test_begin(&test);
  test.tolerance = 0.0;
  desc.struct_size = sizeof desc;
  desc.x = op_test_input(&test, dtype, shape, dtype == HEED_I32 ? (const void *)whole : x);
  op_test_expect(&test, heed_define_slice(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(whole);
  free(y);
}

static void test_table(void **state) {
  (void)state;
  const heed_shape tokens = HEED_SHAPE(2, 197, 64);
  run(tokens, (heed_slice_desc){.shape = HEED_SHAPE(2, 1, 64), .step = {1, 1, 1}}, HEED_F32, 1);
  run(tokens,
      (heed_slice_desc){.shape = HEED_SHAPE(2, 196, 64), .start = {0, 1, 0}, .step = {1, 1, 1}},
      HEED_F32, 2);
  run(tokens,
      (heed_slice_desc){.shape = HEED_SHAPE(2, 197, 32), .start = {0, 0, 1}, .step = {1, 1, 2}},
      HEED_F32, 3);
  run(tokens,
      (heed_slice_desc){
          .shape = HEED_SHAPE(2, 197, 64), .start = {1, 196, 63}, .step = {-1, -1, -1}},
      HEED_F32, 4);
  run(tokens,
      (heed_slice_desc){.shape = HEED_SHAPE(4, 200, 70),
                        .start = {-1, -2, -3},
                        .step = {1, 1, 1},
                        .value = -7.0f},
      HEED_F32, 5);
  run(HEED_SHAPE(40000), (heed_slice_desc){.shape = HEED_SHAPE(3), .start = {70000}, .step = {1}},
      HEED_F32, 6);
  run(HEED_SHAPE(5),
      (heed_slice_desc){.shape = HEED_SHAPE(9), .start = {-2}, .step = {1}, .value = 3}, HEED_I32,
      7);
  run(HEED_SHAPE(3, 40000),
      (heed_slice_desc){.shape = HEED_SHAPE(3, 9), .start = {0, INT32_MAX}, .step = {1, INT32_MIN}},
      HEED_F32, 8);
  run(HEED_SHAPE(9), (heed_slice_desc){.shape = HEED_SHAPE(9), .start = {3}, .step = {1 << 30}},
      HEED_F32, 9);
}

static void test_sweep(void **state) {
  (void)state;
  for (uint64_t seed = 100; seed < 100 + op_test_share(120); seed++) {
    test_random random = {seed};
    heed_shape shape = {.rank = 1 + test_random_below(&random, HEED_MAX_RANK)};
    heed_slice_desc desc = {.value = 2.0f};
    desc.shape.rank = shape.rank;
    for (uint32_t i = 0; i < shape.rank; i++) {
      shape.dim[i] = 1 + test_random_below(&random, 6);
      const bool whole = test_random_below(&random, 3) == 0;
      desc.shape.dim[i] = whole ? shape.dim[i] : 1 + test_random_below(&random, 6);
      desc.start[i] = whole ? 0 : (int32_t)test_random_below(&random, 12) - 4;
      desc.step[i] = whole ? 1 : (int32_t)test_random_below(&random, 3) + 1;
      if (!whole && test_random_below(&random, 2)) desc.step[i] = -desc.step[i];
    }
    run(shape, desc, seed % 2 ? HEED_I32 : HEED_F32, seed);
  }
}

static void wrong(heed_slice_desc desc, heed_dtype dtype, const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_shape shape = HEED_SHAPE(2, 3);
  desc.struct_size = sizeof desc;
  desc.x = heed_define_input(test.graph, "x", dtype, &shape);
  assert_int_equal(heed_define_slice(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  wrong((heed_slice_desc){.shape = HEED_SHAPE(2), .step = {1}}, HEED_F32,
        "slice: wrong number of axes of shape (found 1, expected 2)");
  wrong((heed_slice_desc){.shape = HEED_SHAPE(2, 3), .step = {1}}, HEED_F32,
        "slice: step 0 (at axis 1");
  wrong((heed_slice_desc){.shape = HEED_SHAPE(2, 3), .step = {1, 1}}, HEED_U8, "wrong dtype");
  wrong((heed_slice_desc){.shape = HEED_SHAPE(2, 0), .step = {1, 1}}, HEED_F32, "invalid shape");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_sweep),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("slice", tests, NULL, test_backend_close_all);
}
