/* gather against index arithmetic: every axis, indices of any rank, negative ones and such that
 * name nothing, element by element, both dtypes. Exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

/* The element of x with y's indices `at` where the axis has `entry`; shapes as of the op. */
static size_t whole_source(const heed_shape *x, uint32_t axis, size_t indices, size_t at,
                           size_t *number) {
  size_t run = 1;
  for (uint32_t i = axis + 1; i < x->rank; i++) run *= x->dim[i];
  *number = at / run % indices;
  return at / run / indices * x->dim[axis] * run + at % run;
}

static size_t element_source(const heed_shape *x, const heed_shape *y, uint32_t axis, size_t at) {
  size_t from = 0, stride = 1;
  for (uint32_t i = x->rank; i-- > 0; at /= y->dim[i], stride *= x->dim[i])
    if (i != axis) from += at % y->dim[i] * stride;
  return from;
}

typedef struct gather_case {
  heed_shape x, indices;
  uint32_t axis;
  bool elements;
} gather_case;

static double expected(const gather_case *c, const float *x, const int32_t *indices,
                       const heed_shape *y, size_t at) {
  size_t run = 1, number = at;
  for (uint32_t i = c->axis + 1; i < c->x.rank; i++) run *= c->x.dim[i];
  const size_t from =
      c->elements
          ? element_source(&c->x, y, c->axis, at)
          : whole_source(&c->x, c->axis, (size_t)heed_shape_count(&c->indices), at, &number);
  const int64_t length = c->x.dim[c->axis],
                entry = indices[number] < 0 ? indices[number] + length : indices[number];
  return entry < 0 || entry >= length ? 0.0 : (double)x[from + (size_t)entry * run];
}

static void run(const gather_case *c, heed_dtype dtype, uint64_t seed) {
  char what[240], text[HEED_SHAPE_TEXT_SIZE], by[HEED_SHAPE_TEXT_SIZE];
  test_random random = {seed};
  op_test test;
  const size_t count = (size_t)heed_shape_count(&c->x),
               picked = (size_t)heed_shape_count(&c->indices);
  float *x = op_test_random(&random, count, 100.0f);
  int32_t *whole = malloc(count * sizeof *whole), *indices = malloc(picked * sizeof *indices);
  assert_non_null(whole);
  assert_non_null(indices);
  for (size_t i = 0; i < count; i++) {
    whole[i] = (int32_t)x[i];
    if (dtype == HEED_I32) x[i] = (float)whole[i];
  }
  const uint32_t length = c->x.dim[c->axis];
  for (size_t i = 0; i < picked; i++)
    indices[i] = (int32_t)test_random_below(&random, 2 * length + 2) - (int32_t)length - 1;
  op_test_begin(&test);
  test.tolerance = 0.0;
  heed_gather_desc desc = {.struct_size = sizeof desc, .axis = c->axis, .elements = c->elements};
  desc.x = op_test_input(&test, dtype, c->x, dtype == HEED_I32 ? (const void *)whole : x);
  desc.indices = seed % 2 ? op_test_constant(&test, HEED_I32, c->indices, indices)
                          : op_test_input(&test, HEED_I32, c->indices, indices);
  const heed_value value = heed_define_gather(test.graph, &desc);
  heed_value_info info;
  heed_error error = {HEED_OK, ""};
  assert_ok(heed_graph_value_info(test.graph, value, &info));
  const size_t results = (size_t)heed_shape_count(&info.shape);
  assert_int_equal(results, c->elements ? picked : count / length * picked);
  double *y = op_test_doubles(results);
  for (size_t i = 0; i < results; i++) y[i] = expected(c, x, indices, &info.shape, i);
  snprintf(what, sizeof what, "gather %s by %s along axis %u, seed %llu",
           heed_shape_text(&c->x, text), heed_shape_text(&c->indices, by), c->axis,
           (unsigned long long)seed);
  op_test_expect(&test, value, y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(whole);
  free(indices);
  free(y);
}

static const gather_case cases[] = {
    {{1, {7}}, {0, {0}}, 0, false},
    {{2, {1000, 64}}, {2, {3, 17}}, 0, false},
    {{3, {2, 197, 64}}, {0, {0}}, 1, false},
    {{3, {2, 197, 64}}, {1, {5}}, 1, false},
    {{3, {2, 17, 64}}, {2, {4, 5}}, 2, false},
    {{3, {2, 3, 40000}}, {1, {2}}, 1, false},
    {{4, {2, 3, 4, 5}}, {3, {2, 1, 3}}, 3, false},
    {{4, {2, 3, 4, 5}}, {1, {6}}, 0, false},
    {{1, {7}}, {1, {11}}, 0, true},
    {{2, {5, 7}}, {2, {5, 3}}, 1, true},
    {{2, {5, 7}}, {2, {9, 7}}, 0, true},
    {{3, {3, 5, 7}}, {3, {2, 8, 6}}, 1, true},
    {{6, {2, 3, 2, 3, 2, 3}}, {6, {2, 2, 2, 3, 1, 3}}, 2, true},
};

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run(&cases[i], HEED_F32, i + 1);
    run(&cases[i], HEED_I32, i + 2);
  }
}

static void wrong(const gather_case *c, const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_gather_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_define_input(test.graph, "x", HEED_F32, &c->x),
      .indices = heed_define_input(test.graph, "indices", HEED_I32, &c->indices),
      .axis = c->axis,
      .elements = c->elements};
  assert_int_equal(heed_define_gather(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  wrong(&(gather_case){{2, {2, 3}}, {1, {4}}, 2, false},
        "gather: axis out of range (found 2, expected less than 2)");
  wrong(&(gather_case){{4, {2, 3, 2, 2}}, {4, {4, 1, 1, 1}}, 0, false},
        "gather: indices do not fit x (found [4, 1, 1, 1] of [2, 3, 2, 2], expected at most 6");
  wrong(&(gather_case){{2, {2, 3}}, {2, {3, 3}}, 1, true}, "expected x's axes or shorter ones");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("gather", tests, NULL, test_backend_close_all);
}
