/* concat: two to four inputs along any axis, a leading axis of 1 repeated, both dtypes; exact. */
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

typedef struct concat_case {
  uint32_t count, axis;
  heed_shape x[HEED_CONCAT_MAX];
} concat_case;

static const concat_case cases[] = {
    {2, 0, {{1, {3}}, {1, {5}}}},
    {2, 0, {{2, {1, 7}}, {2, {4, 7}}}},
    {2, 1, {{3, {1, 1, 6}}, {3, {1, 9, 6}}}},
    {2, 1, {{3, {1, 1, 6}}, {3, {4, 9, 6}}}},
    {3, 1, {{3, {1, 1, 192}}, {3, {1, 1, 192}}, {3, {2, 196, 192}}}},
    {3, 1, {{3, {2, 3, 5}}, {3, {1, 2, 5}}, {3, {2, 1, 5}}}},
    {4, 2, {{3, {2, 3, 1}}, {3, {2, 3, 2}}, {3, {1, 3, 3}}, {3, {2, 3, 4}}}},
    {2, 1, {{2, {1, 40000}}, {2, {3, 7}}}},
    {2, 1, {{2, {5000, 2}}, {2, {5000, 3}}}},
};

static size_t product(const heed_shape *shape, uint32_t from, uint32_t to) {
  size_t count = 1;
  for (uint32_t i = from; i < to; i++) count *= shape->dim[i];
  return count;
}

static void run(const concat_case *c, heed_dtype dtype, uint64_t seed) {
  char what[100];
  test_random random = {seed};
  op_test test;
  float *x[HEED_CONCAT_MAX];
  int32_t *whole[HEED_CONCAT_MAX];
  heed_concat_desc desc = {.struct_size = sizeof desc, .count = c->count, .axis = c->axis};
  size_t before = 0, width = 0;
  op_test_begin(&test);
  for (uint32_t i = 0; i < c->count; i++) {
    const size_t size = (size_t)heed_shape_count(&c->x[i]);
    x[i] = op_test_random(&random, size, 100.0f);
    whole[i] = malloc(size * sizeof *whole[i]);
    assert_non_null(whole[i]);
    for (size_t k = 0; k < size; k++) {
      whole[i][k] = (int32_t)x[i][k];
      if (dtype == HEED_I32) x[i][k] = (float)whole[i][k];
    }
    desc.x[i] =
        op_test_input(&test, dtype, c->x[i], dtype == HEED_I32 ? (const void *)whole[i] : x[i]);
    const size_t rows = product(&c->x[i], 0, c->axis);
    before = rows > before ? rows : before;
    width += product(&c->x[i], c->axis, c->x[i].rank);
  }
  double *y = op_test_doubles(before * width), *to = y;
  for (size_t row = 0; row < before; row++)
    for (uint32_t i = 0; i < c->count; i++) {
      const size_t own = product(&c->x[i], c->axis, c->x[i].rank),
                   rows = product(&c->x[i], 0, c->axis);
      for (size_t k = 0; k < own; k++) *to++ = (double)x[i][row % rows * own + k];
    }
  snprintf(what, sizeof what, "concat case %llu, axis %u of %u inputs", (unsigned long long)seed,
           c->axis, c->count);
  test.tolerance = 0.0;
  op_test_expect(&test, heed_define_concat(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  for (uint32_t i = 0; i < c->count; i++) {
    free(x[i]);
    free(whole[i]);
  }
  free(y);
}

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run(&cases[i], HEED_F32, i + 1);
    run(&cases[i], HEED_I32, i + 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  return cmocka_run_group_tests_name("concat", tests, NULL, test_backend_close_all);
}
