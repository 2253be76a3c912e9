/* linear: y = activation(x weight^T + bias) + residual, against the same in double; sizes around
 * every level's tile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

typedef struct linear_case {
  uint32_t batch, tokens, depth, columns;
  bool bias, residual;
  heed_activation activation;
  uint32_t heads, parts;
} linear_case;

static const linear_case cases[] = {
    {1, 1, 1, 1, false, false, 0, 0, 0},
    {1, 1, 7, 3, true, false, 0, 0, 0},
    {1, 3, 16, 31, true, true, 0, 0, 0},
    {1, 4, 5, 32, false, true, 0, 0, 0},
    {1, 5, 64, 33, true, false, HEED_ACTIVATION_GELU, 0, 0},
    {1, 6, 17, 15, true, true, HEED_ACTIVATION_GELU, 0, 0},
    {1, 7, 33, 16, true, true, HEED_ACTIVATION_RELU, 0, 0},
    {1, 8, 1, 17, true, false, HEED_ACTIVATION_TANH, 0, 0},
    {1, 11, 31, 64, true, true, HEED_ACTIVATION_SILU, 0, 0},
    {1, 12, 32, 65, true, true, HEED_ACTIVATION_GELU_TANH, 0, 0},
    {2, 13, 47, 8, true, true, HEED_ACTIVATION_GELU_QUICK, 0, 0},
    {3, 25, 96, 7, false, false, HEED_ACTIVATION_SIGMOID, 0, 0},
    {1, 197, 48, 97, true, true, HEED_ACTIVATION_ELU_PLUS_ONE, 0, 0},
    {1, 257, 14, 40, true, true, 0, 0, 0},
    {2, 300, 24, 36, true, false, 0, 0, 0},
    {1, 24, 1023, 40, true, true, 0, 0, 0},
    {1, 29, 3072, 33, true, false, 0, 0, 0},
    {1, 1100, 512, 35, true, true, 0, 0, 0}, /* several groups of rows, copied apart */
    {1, 5, 12, 24, true, false, 0, 3, 1},
    {2, 13, 20, 72, true, false, 0, 3, 3},
    {3, 17, 32, 60, false, false, 0, 2, 3},
    {2, 7, 9, 3 * 5 * 7, true, false, HEED_ACTIVATION_GELU, 5, 3},
    {1, 197, 64, 192, true, false, 0, 1, 3},
    {1, 19, 64, 2 * 80, true, false, 0, 2, 0},
};

static double activate(heed_activation kind, double x) {
  switch (kind) {
    case HEED_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case HEED_ACTIVATION_GELU: return 0.5 * x * erfc(-x / sqrt(2.0));
    case HEED_ACTIVATION_GELU_TANH:
      return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case HEED_ACTIVATION_GELU_QUICK: return x / (1 + exp(-1.702 * x));
    case HEED_ACTIVATION_TANH: return tanh(x);
    case HEED_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
    case HEED_ACTIVATION_SILU: return x / (1 + exp(-x));
    case HEED_ACTIVATION_ELU_PLUS_ONE: return x > 0 ? x + 1 : exp(x);
    default: return x;
  }
}

/* Where element (row, column) lies in y. */
static size_t place(const linear_case *c, size_t row, size_t column) {
  if (!c->heads) return row * c->columns + column;
  const size_t depth = c->columns / ((c->parts ? c->parts : 1) * c->heads), head = column / depth,
               d = column % depth;
  const size_t part = head / c->heads, h = head % c->heads, b = row / c->tokens,
               t = row % c->tokens;
  return (((part * c->batch + b) * c->heads + h) * c->tokens + t) * depth + d;
}

typedef struct tensors {
  float *x, *weight, *bias, *residual;
  double *y;
} tensors;

static void make(const linear_case *c, uint64_t seed, tensors *t) {
  test_random random = {seed};
  const size_t rows = (size_t)c->batch * c->tokens, n = c->columns, k = c->depth;
  t->x = op_test_random(&random, rows * k, 1.0f);
  t->weight = op_test_random(&random, n * k, 1.0f / sqrtf((float)k));
  t->bias = op_test_random(&random, n, 1.0f);
  t->residual = op_test_random(&random, rows * n, 1.0f);
  t->y = op_test_doubles(rows * n);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = c->bias ? (double)t->bias[j] : 0.0;
      for (size_t d = 0; d < k; d++) sum += (double)t->x[i * k + d] * (double)t->weight[j * k + d];
      t->y[place(c, i, j)] =
          activate(c->activation, sum) + (c->residual ? (double)t->residual[i * n + j] : 0.0);
    }
}

static void release(tensors *t) {
  free(t->x);
  free(t->weight);
  free(t->bias);
  free(t->residual);
  free(t->y);
}

static void define(op_test *test, const linear_case *c, const tensors *t) {
  heed_linear_desc desc = {.struct_size = sizeof desc,
                           .activation = c->activation,
                           .heads = c->heads,
                           .parts = c->parts};
  op_test_begin(test);
  desc.x = op_test_input(test, HEED_F32, HEED_SHAPE(c->batch, c->tokens, c->depth), t->x);
  desc.weight = op_test_constant(test, HEED_F32, HEED_SHAPE(c->columns, c->depth), t->weight);
  if (c->bias) desc.bias = op_test_constant(test, HEED_F32, HEED_SHAPE(c->columns), t->bias);
  if (c->residual)
    desc.residual =
        op_test_input(test, HEED_F32, HEED_SHAPE(c->batch, c->tokens, c->columns), t->residual);
  op_test_expect(test, heed_define_linear(test->graph, &desc), t->y);
}

static void run_case(const linear_case *c, uint64_t seed, bool bits) {
  char what[200];
  tensors t;
  op_test test;
  snprintf(what, sizeof what,
           "linear x [%u, %u, %u], N %u, bias %d, residual %d, activation %d, heads %u, parts %u, "
           "seed %llu",
           c->batch, c->tokens, c->depth, c->columns, c->bias, c->residual, (int)c->activation,
           c->heads, c->parts, (unsigned long long)seed);
  make(c, seed, &t);
  define(&test, c, &t);
  if (bits)
    op_test_same_bits(&test, what);
  else
    op_test_run(&test, what);
  op_test_end(&test);
  release(&t);
}

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], 1000 + i, false);
}

static void test_random_shapes(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= op_test_share(60); seed++) {
    test_random random = {seed * 7919};
    linear_case c = {1 + test_random_below(&random, 3),
                     1 + test_random_below(&random, 40),
                     1 + test_random_below(&random, 90),
                     1 + test_random_below(&random, 90),
                     test_random_below(&random, 2) != 0,
                     test_random_below(&random, 2) != 0,
                     (heed_activation)test_random_below(&random, 9),
                     0,
                     0};
    if (test_random_below(&random, 3) == 0) {
      c.residual = false;
      c.heads = 1 + test_random_below(&random, 4);
      c.parts = 1 + test_random_below(&random, 3);
      c.columns = c.heads * c.parts * (1 + test_random_below(&random, 40));
    }
    run_case(&c, seed, false);
  }
}

static void test_same_bits_for_any_threads(void **state) {
  (void)state;
  static const linear_case c = {2, 131, 200, 150, true, true, HEED_ACTIVATION_GELU, 0, 0};
  static const linear_case heads = {1, 197, 64, 192, true, false, 0, 1, 3};
  run_case(&c, 5, true);
  run_case(&heads, 6, true);
}

/* A weight that is also the residual is one constant kept two ways. */
static void test_weight_as_residual(void **state) {
  (void)state;
  enum { N = 20 };
  test_random random = {77};
  float *x = op_test_random(&random, N * N, 1.0f), *w = op_test_random(&random, N * N, 0.3f);
  double *y = op_test_doubles(N * N);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      y[i * N + j] = (double)w[i * N + j];
      for (size_t k = 0; k < N; k++) y[i * N + j] += (double)x[i * N + k] * (double)w[j * N + k];
    }
  op_test test;
  op_test_begin(&test);
  heed_linear_desc desc = {.struct_size = sizeof desc};
  desc.x = op_test_input(&test, HEED_F32, HEED_SHAPE(N, N), x);
  desc.weight = op_test_constant(&test, HEED_F32, HEED_SHAPE(N, N), w);
  desc.residual = desc.weight;
  op_test_expect(&test, heed_define_linear(test.graph, &desc), y);
  op_test_run(&test, "linear with its weight as residual");
  op_test_end(&test);
  free(x);
  free(w);
  free(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_random_shapes),
      cmocka_unit_test(test_same_bits_for_any_threads),
      cmocka_unit_test(test_weight_as_residual),
  };
  return cmocka_run_group_tests_name("linear", tests, NULL, test_backend_close_all);
}
