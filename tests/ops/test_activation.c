/* activation: every kind over ordinary, tiny, huge and special arguments, against the formulas of
 * heed.h in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

static const char *const names[] = {"none", "relu",    "gelu", "gelu_tanh",   "gelu_quick",
                                    "tanh", "sigmoid", "silu", "elu_plus_one"};

/* x sigmoid(s x), which tends to 0 on the left. */
static double swish(double x, double slope) {
  return x == -HUGE_VAL ? 0.0 : x / (1 + exp(-slope * x));
}

static double exact(heed_activation kind, double x) {
  switch (kind) {
    case HEED_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case HEED_ACTIVATION_GELU: return x == -HUGE_VAL ? 0.0 : 0.5 * x * erfc(-x / sqrt(2.0));
    case HEED_ACTIVATION_GELU_TANH:
      return x < -1e6 ? 0.0
             : x > 1e6
                 ? x
                 : 0.5 * x *
                       (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case HEED_ACTIVATION_GELU_QUICK: return swish(x, 1.702);
    case HEED_ACTIVATION_TANH: return tanh(x);
    case HEED_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
    case HEED_ACTIVATION_SILU: return swish(x, 1.0);
    case HEED_ACTIVATION_ELU_PLUS_ONE: return x > 0 ? x + 1 : exp(x);
    default: return x;
  }
}

static void run(heed_activation kind, const float *x, size_t count, double tolerance,
                const char *which) {
  char what[100];
  op_test test;
  double *y = op_test_doubles(count);
  for (size_t i = 0; i < count; i++) y[i] = exact(kind, (double)x[i]);
  snprintf(what, sizeof what, "activation %s [%zu], %s", names[kind], count, which);
  op_test_begin(&test);
  test.tolerance = tolerance;
  heed_activation_desc desc = {
      sizeof desc, op_test_input(&test, HEED_F32, HEED_SHAPE((uint32_t)count), x), kind};
  op_test_expect(&test, heed_define_activation(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(y);
}

static void test_range(void **state) {
  (void)state;
  enum { COUNT = 40001 };
  float *x = op_test_zeros(COUNT);
  for (size_t i = 0; i < COUNT; i++) x[i] = 0.0011f * ((float)i - COUNT / 2);
  for (int kind = 0; kind <= HEED_ACTIVATION_ELU_PLUS_ONE; kind++)
    run((heed_activation)kind, x, COUNT, 1e-6, "-22 to 22");
  free(x);
}

static void test_special(void **state) {
  (void)state;
  static const float x[] = {
      0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,     1e-38f,  -1e-38f,   1e-30f,  -1e-30f,  1e-6f,
      -1e-6f, 0.5f,   -0.5f,    1e10f,     -1e10f,  1e30f,   -1e30f,    3e38f,   -3e38f,   87.0f,
      -87.0f, 88.8f,  -88.8f,   104.0f,    -104.0f, -87.33f, 0.625f,    0.6249f, 0.92773f, -0.9278f,
      -13.4f, -13.6f, 5.5f,     -5.5f,     4.0f,    -4.0f,   -1.17e-38f};
  for (int kind = 0; kind <= HEED_ACTIVATION_ELU_PLUS_ONE; kind++)
    run((heed_activation)kind, x, sizeof x / sizeof *x, 1e-6, "special");
}

static void test_sizes(void **state) {
  (void)state;
  static const size_t sizes[] = {1,  2,  3,  4,  5,     7,     8,     9,    15,
                                 16, 17, 31, 33, 16383, 16384, 16385, 50021};
  test_random random = {3};
  float *x = op_test_random(&random, 50021, 2.0f);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    run(HEED_ACTIVATION_GELU, x, sizes[i], 1e-6, "seed 3");
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_range), cmocka_unit_test(test_special),
                                     cmocka_unit_test(test_sizes)};
  return cmocka_run_group_tests_name("activation", tests, NULL, test_backend_close_all);
}
