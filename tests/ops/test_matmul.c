/* matmul against the sum in double: sizes around every tile, transposed factors, broadcasting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct matmul_case {
  heed_shape a, b; /* as they are given, transposed or not */
  bool transpose_a, transpose_b;
} matmul_case;

static const matmul_case cases[] = {
    {{2, {1, 1}}, {2, {1, 1}}, false, false},
    {{2, {3, 5}}, {2, {5, 7}}, false, false},
    {{2, {5, 3}}, {2, {5, 7}}, true, false},
    {{2, {3, 5}}, {2, {7, 5}}, false, true},
    {{2, {5, 3}}, {2, {7, 5}}, true, true},
    {{3, {4, 197, 64}}, {3, {4, 197, 64}}, false, true},
    {{3, {4, 197, 197}}, {3, {4, 197, 64}}, false, false},
    {{4, {2, 3, 17, 19}}, {4, {2, 3, 19, 33}}, false, false},
    {{4, {2, 3, 17, 19}}, {2, {19, 33}}, false, false},
    {{4, {1, 3, 17, 19}}, {4, {2, 1, 19, 33}}, false, false},
    {{2, {17, 19}}, {4, {2, 3, 19, 33}}, false, false},
    {{3, {2, 1, 31}}, {3, {2, 31, 1}}, false, false},
    {{6, {2, 1, 3, 1, 2, 5}}, {6, {1, 2, 1, 2, 5, 3}}, false, false},
    {{2, {1000, 37}}, {2, {37, 65}}, false, false},
    {{3, {40, 49, 32}}, {2, {32, 49}}, false, false},
    {{2, {8, 130}}, {2, {130, 12}}, false, false},
    {{3, {4, 197, 197}}, {3, {4, 197, 64}}, true, false},
    {{3, {2, 130, 500}}, {3, {1, 130, 33}}, true, false},
    {{4, {2, 1, 19, 17}}, {4, {1, 3, 33, 19}}, true, true},
    {{3, {2, 29, 2100}}, {3, {2, 2100, 35}}, false, false},
};

static size_t leading(const heed_shape *shape, uint32_t i) {
  return i + 2 < shape->rank ? shape->dim[shape->rank - 3 - i] : 1;
}

/* Element (row, column) of a product, where a matrix begins at its own offset. */
static double sum(const matmul_case *c, const float *a, const float *b, size_t row, size_t column,
                  size_t depth, size_t rows, size_t columns) {
  double all = 0.0;
  for (size_t k = 0; k < depth; k++)
    all += (double)a[c->transpose_a ? k * rows + row : row * depth + k] *
           (double)b[c->transpose_b ? column * depth + k : k * columns + column];
  return all;
}

static void run(const matmul_case *c, uint64_t seed) {
  char what[240], left[HEED_SHAPE_TEXT_SIZE], right[HEED_SHAPE_TEXT_SIZE];
  test_random random = {seed};
  op_test test;
  float *a = op_test_random(&random, (size_t)heed_shape_count(&c->a), 1.0f),
        *b = op_test_random(&random, (size_t)heed_shape_count(&c->b), 1.0f);
  const uint32_t *last_a = c->a.dim + c->a.rank - 2, *last_b = c->b.dim + c->b.rank - 2;
  const size_t rows = last_a[c->transpose_a], depth = last_a[!c->transpose_a],
               columns = last_b[!c->transpose_b];
  size_t batch = 1;
  for (uint32_t i = 0; i < 4; i++)
    batch *= leading(&c->a, i) == 1 ? leading(&c->b, i) : leading(&c->a, i);
  double *y = op_test_doubles(batch * rows * columns);
  for (size_t product = 0; product < batch; product++) {
    size_t rest = product, a_at = 0, b_at = 0, a_step = rows * depth, b_step = depth * columns;
    for (uint32_t i = 0; i < 4; i++) {
      const size_t in_a = leading(&c->a, i), in_b = leading(&c->b, i),
                   size = in_a == 1 ? in_b : in_a;
      a_at += in_a == 1 ? 0 : rest % size * a_step;
      b_at += in_b == 1 ? 0 : rest % size * b_step;
      a_step *= in_a;
      b_step *= in_b;
      rest /= size;
    }
    for (size_t i = 0; i < rows * columns; i++)
      y[product * rows * columns + i] =
          sum(c, a + a_at, b + b_at, i / columns, i % columns, depth, rows, columns);
  }
  snprintf(what, sizeof what, "matmul %s%s, %s%s, seed %llu", heed_shape_text(&c->a, left),
           c->transpose_a ? " transposed" : "", heed_shape_text(&c->b, right),
           c->transpose_b ? " transposed" : "", (unsigned long long)seed);
  op_test_begin(&test);
  heed_matmul_desc desc = {
      .struct_size = sizeof desc, .transpose_a = c->transpose_a, .transpose_b = c->transpose_b};
  desc.a = op_test_input(&test, HEED_F32, c->a, a);
  desc.b = seed % 2 ? op_test_constant(&test, HEED_F32, c->b, b)
                    : op_test_input(&test, HEED_F32, c->b, b);
  op_test_expect(&test, heed_define_matmul(test.graph, &desc), y);
  op_test_run(&test, what);
  if (seed == 6 || seed == 17) op_test_same_bits(&test, what);
  op_test_end(&test);
  free(a);
  free(b);
  free(y);
}

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run(&cases[i], i + 1);
}

static void test_random_shapes(void **state) {
  (void)state;
  for (uint64_t seed = 100; seed < 100 + op_test_share(60); seed++) {
    test_random random = {seed * 17};
    matmul_case c = {
        {2 + test_random_below(&random, 3), {0}}, {0, {0}}, seed % 3 == 0, seed % 4 < 2};
    const uint32_t m = 1 + test_random_below(&random, 40), k = 1 + test_random_below(&random, 140),
                   n = 1 + test_random_below(&random, 70);
    c.b.rank = 2 + test_random_below(&random, 3);
    for (uint32_t i = 0; i < 2; i++) {
      const uint32_t size = 1 + test_random_below(&random, 3);
      if (c.a.rank >= 3 + i) c.a.dim[c.a.rank - 3 - i] = test_random_below(&random, 2) ? 1 : size;
      if (c.b.rank >= 3 + i) c.b.dim[c.b.rank - 3 - i] = test_random_below(&random, 2) ? 1 : size;
    }
    c.a.dim[c.a.rank - 2] = c.transpose_a ? k : m;
    c.a.dim[c.a.rank - 1] = c.transpose_a ? m : k;
    c.b.dim[c.b.rank - 2] = c.transpose_b ? n : k;
    c.b.dim[c.b.rank - 1] = c.transpose_b ? k : n;
    run(&c, seed);
  }
}

static void wrong(heed_shape a, heed_shape b, const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_matmul_desc desc = {.struct_size = sizeof desc,
                                 .a = heed_define_input(test.graph, "a", HEED_F32, &a),
                                 .b = heed_define_input(test.graph, "b", HEED_F32, &b)};
  assert_int_equal(heed_define_matmul(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  wrong(HEED_SHAPE(3), HEED_SHAPE(3, 4), "matmul: a: wrong number of axes (found [3]");
  wrong(HEED_SHAPE(2, 3), HEED_SHAPE(4, 5),
        "matmul: factors do not fit (found [2, 3] and [4, 5], expected [..., M, K] and [..., K, "
        "N])");
  wrong(HEED_SHAPE(2, 4, 3), HEED_SHAPE(3, 3, 5), "factors do not fit");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                     cmocka_unit_test(test_random_shapes),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("matmul", tests, NULL, test_backend_close_all);
}
