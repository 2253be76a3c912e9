/* linear with weights that stay fp16 in memory (cpu/weights/f16.c), on every level: against double,
 * with factors of all rows and of each. Models keep weights so in WebAssembly alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/halves.h"
#include "support/op_test.h"

typedef struct half_case {
  uint32_t rows, depth, columns;
  float factor;
  bool row_scale;
} half_case;

static const half_case cases[] = {
    {1, 1, 1, 1.0f, false},      {3, 7, 5, 1.0f, true},       {5, 64, 33, 0.25f, false},
    {13, 65, 24, 1.5f, true},    {197, 48, 97, 0.125f, true}, {29, 1023, 40, 1.0f, false},
    {1100, 130, 35, 0.7f, true},
};

/* Numbers that fp16 holds. */
typedef struct stored {
  float *numbers;
} stored;

static heed_status read_stored(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const stored *s = user;
  (void)error;
  memcpy(to, s->numbers + first, (size_t)count * sizeof *s->numbers);
  return HEED_OK;
}

/* Multiples of 2^-10 below 2, and some that are denormal in fp16. */
static float make_number(test_random *random) {
  const int whole = (int)test_random_below(random, 4095) - 2047;
  return (float)whole * (test_random_below(random, 8) ? 0x1p-10f : 0x1p-24f);
}

/* The first backend's bytes of weights. */
static uint64_t weight_bytes(heed_graph *graph) {
  heed_plan *plan;
  heed_error error;
  assert_true(test_backend_count() > 0);
  assert_ok(heed_plan_create(graph, test_backend_get(0), NULL, &plan, &error));
  heed_memory memory;
  heed_plan_memory(plan, &memory);
  heed_plan_destroy(plan);
  return memory.weights;
}

static void check_case(const half_case *c, test_random *random) {
  const size_t weights = (size_t)c->columns * c->depth, results = (size_t)c->rows * c->columns;
  stored s = {op_test_zeros(weights)};
  float *scale = op_test_zeros(c->columns), *floats = op_test_zeros(weights),
        *x = op_test_random(random, (size_t)c->rows * c->depth, 1.0f);
  double *y = op_test_doubles(results);
  for (size_t n = 0; n < c->columns; n++)
    scale[n] = c->row_scale ? 0.5f + (float)test_random_below(random, 64) / 64.0f : 1.0f;
  for (size_t i = 0; i < weights; i++) {
    s.numbers[i] = make_number(random);
    floats[i] = s.numbers[i] * (c->factor * scale[i / c->depth]);
  }
  for (size_t i = 0; i < results; i++)
    for (size_t k = 0; k < c->depth; k++)
      y[i] +=
          (double)x[i / c->columns * c->depth + k] * (double)floats[i % c->columns * c->depth + k];
  op_test test;
  op_test_begin(&test);
  const heed_value weight =
      op_test_constant(&test, HEED_F32, HEED_SHAPE(c->columns, c->depth), floats);
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = op_test_input(&test, HEED_F32, HEED_SHAPE(c->rows, c->depth), x),
      .weight = weight};
  op_test_expect(&test, heed_define_linear(test.graph, &desc), y);
  const uint64_t whole = weight_bytes(test.graph);
  const heed_halves halves = {read_stored, &s, c->factor, c->row_scale ? scale : NULL};
  test.graph->values[weight.id - 1].halves = &halves;
  if (c->depth > 32) assert_true(weight_bytes(test.graph) < whole * 6 / 10);
  test.tolerance = 1e-4;
  char what[96];
  snprintf(what, sizeof what, "linear of fp16: %u rows, depth %u, %u columns", c->rows, c->depth,
           c->columns);
  op_test_run(&test, what);
  op_test_same_bits(&test, what);
  op_test_end(&test);
  free(s.numbers);
  free(scale);
  free(floats);
  free(x);
  free(y);
}

static void test_products(void **state) {
  test_random random = {11};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i], &random);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
  return cmocka_run_group_tests(tests, NULL, test_backend_close_all);
}
