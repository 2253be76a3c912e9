/* activation: every kind over ordinary, tiny, huge and special arguments, against the formulas of
 * heed.h in double; so their slopes and ratios, and these times a factor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
/* s + z s (1 - s) */
static double swish_slope(double z) {
  return fabs(z) > 700 ? z > 0 : sigmoid(z) + z * sigmoid(z) * sigmoid(-z);
}
static double bend(double x) {
  return sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
}

/* The derivative, from another form than the kernel's. */
static double slope(heed_activation kind, double x) {
  switch (kind) {
    case HEED_ACTIVATION_RELU: return isnan(x) ? x : x > 0;
    case HEED_ACTIVATION_GELU:
      return fabs(x) > 1e3 ? x > 0
                           : 0.5 * erfc(-x / sqrt(2.0)) +
                                 x * exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
    case HEED_ACTIVATION_GELU_TANH: {
      if (fabs(x) > 1e3) return x > 0;
      const double c = 1 / cosh(fmin(fabs(bend(x)), 300));
      return 0.5 * (1 + tanh(bend(x))) +
             0.5 * x * c * c * sqrt(2 / 3.14159265358979323846) * (1 + 3 * 0.044715 * x * x);
    }
    case HEED_ACTIVATION_GELU_QUICK: return swish_slope(1.702 * x);
    case HEED_ACTIVATION_TANH: return 1 / (cosh(fmin(fabs(x), 300)) * cosh(fmin(fabs(x), 300)));
    case HEED_ACTIVATION_SIGMOID: return sigmoid(x) * sigmoid(-x);
    case HEED_ACTIVATION_SILU: return swish_slope(x);
    case HEED_ACTIVATION_ELU_PLUS_ONE: return x > 0 ? 1 : exp(x);
    default: return 1;
  }
}

static double ratio(heed_activation kind, double x) {
  switch (kind) {
    case HEED_ACTIVATION_RELU: return isnan(x) ? x : x > 0;
    case HEED_ACTIVATION_GELU: return 0.5 * erfc(-x / sqrt(2.0));
    case HEED_ACTIVATION_GELU_TANH: return fabs(x) > 1e3 ? x > 0 : 0.5 * (1 + tanh(bend(x)));
    case HEED_ACTIVATION_GELU_QUICK: return sigmoid(1.702 * x);
    case HEED_ACTIVATION_TANH: return x == 0 ? 1 : tanh(x) / x;
    case HEED_ACTIVATION_SILU: return sigmoid(x);
    default: return 1;
  }
}

static bool has(heed_activation kind, heed_activation_form form) {
  return form != HEED_ACTIVATION_RATIO ||
         (kind != HEED_ACTIVATION_SIGMOID && kind != HEED_ACTIVATION_ELU_PLUS_ONE);
}

static double expected(heed_activation kind, heed_activation_form form, double x) {
  if (isnan(x) && kind != HEED_ACTIVATION_NONE) return x;
  return form == HEED_ACTIVATION_SLOPE   ? slope(kind, x)
         : form == HEED_ACTIVATION_RATIO ? ratio(kind, x)
                                         : exact(kind, x);
}

static void run(heed_activation kind, heed_activation_form form, const float *x, size_t count,
                double tolerance, const char *which) {
  static const char *const forms[] = {"", " slope", " ratio"};
  char what[100];
  op_test test;
  double *y = op_test_doubles(count);
  for (size_t i = 0; i < count; i++) y[i] = expected(kind, form, (double)x[i]);
  snprintf(what, sizeof what, "activation %s%s [%zu], %s", names[kind], forms[form], count, which);
  op_test_begin(&test);
  test.tolerance = tolerance;
  heed_activation_desc desc = {
      sizeof desc, op_test_input(&test, HEED_F32, HEED_SHAPE((uint32_t)count), x), kind, form};
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
    for (int form = 0; form <= HEED_ACTIVATION_RATIO; form++)
      if (has((heed_activation)kind, (heed_activation_form)form))
        run((heed_activation)kind, (heed_activation_form)form, x, COUNT, 1e-6, "-22 to 22");
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
    for (int form = 0; form <= HEED_ACTIVATION_RATIO; form++)
      if (has((heed_activation)kind, (heed_activation_form)form))
        run((heed_activation)kind, (heed_activation_form)form, x, sizeof x / sizeof *x, 1e-6,
            "special");
}

static void test_sizes(void **state) {
  (void)state;
  static const size_t sizes[] = {1,  2,  3,  4,  5,     7,     8,     9,    15,
                                 16, 17, 31, 33, 16383, 16384, 16385, 50021};
  test_random random = {3};
  float *x = op_test_random(&random, 50021, 2.0f);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int form = 0; form <= HEED_ACTIVATION_RATIO; form++)
      run(HEED_ACTIVATION_GELU, (heed_activation_form)form, x, sizes[i], 1e-6, "seed 3");
  free(x);
}

static void test_times(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1, 3, 4, 17, 1023, 1024, 1025, 16384, 40001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const uint32_t count = sizes[i];
    test_random random = {40 + i};
    char what[80];
    op_test test;
    float *x = op_test_random(&random, count, 2.0f), *times = op_test_random(&random, count, 1.0f);
    double *y = op_test_doubles(count);
    for (size_t k = 0; k < count; k++)
      y[k] = slope(HEED_ACTIVATION_GELU, (double)x[k]) * (double)times[k];
    snprintf(what, sizeof what, "activation gelu slope times a factor [%u]", count);
    op_test_begin(&test);
    const heed_activation_desc desc = {
        .struct_size = sizeof desc,
        .x = op_test_input(&test, HEED_F32, HEED_SHAPE(count), x),
        .kind = HEED_ACTIVATION_GELU,
        .form = HEED_ACTIVATION_SLOPE,
        .times = op_test_input(&test, HEED_F32, HEED_SHAPE(count), times)};
    op_test_expect(&test, heed_define_activation(test.graph, &desc), y);
    op_test_run(&test, what);
    op_test_end(&test);
    free(x);
    free(times);
    free(y);
  }
}

/* A factor has x's shape. */
static void test_wrong_times(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_activation_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_define_input(test.graph, "x", HEED_F32, &HEED_SHAPE(4)),
      .times = heed_define_input(test.graph, "times", HEED_F32, &HEED_SHAPE(1))};
  heed_define_activation(test.graph, &desc);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "activation: times: wrong shape (found [1], expected [4])");
  op_test_end(&test);
}

/* What has no limit at 0 is refused. */
static void test_refused(void **state) {
  (void)state;
  op_test test;
  heed_error error;
  const float x = 1.0f;
  op_test_begin(&test);
  const heed_activation_desc desc = {sizeof desc, op_test_input(&test, HEED_F32, HEED_SHAPE(1), &x),
                                     HEED_ACTIVATION_SIGMOID, HEED_ACTIVATION_RATIO};
  assert_int_equal(heed_define_activation(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "f(x) / x has no limit at 0 (found kind 6,");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused), cmocka_unit_test(test_range),
      cmocka_unit_test(test_special), cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_times),   cmocka_unit_test(test_wrong_times)};
  return cmocka_run_group_tests_name("activation", tests, NULL, test_backend_close_all);
}
