/* layer_norm against the same in double: widths around every tile, means far from 0, rows without
 * spread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

static void run(uint32_t rows, uint32_t width, float mean, float spread, float epsilon,
                uint64_t seed, double tolerance) {
  char what[160];
  test_random random = {seed};
  op_test test;
  float *x = op_test_random(&random, (size_t)rows * width, spread),
        *gain = op_test_random(&random, width, 1.0f), *bias = op_test_random(&random, width, 1.0f);
  double *y = op_test_doubles((size_t)rows * width);
  for (size_t i = 0; i < (size_t)rows * width; i++) x[i] += mean;
  for (size_t r = 0; r < rows; r++) {
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < width; i++) sum += (double)x[r * width + i];
    for (size_t i = 0; i < width; i++) square += pow((double)x[r * width + i] - sum / width, 2);
    for (size_t i = 0; i < width; i++)
      y[r * width + i] = ((double)x[r * width + i] - sum / width) /
                             sqrt(square / width + (double)epsilon) * (double)gain[i] +
                         (double)bias[i];
  }
  snprintf(what, sizeof what, "layer_norm [%u, %u], mean %g, spread %g, epsilon %g, seed %llu",
           rows, width, (double)mean, (double)spread, (double)epsilon, (unsigned long long)seed);
  op_test_begin(&test);
  test.tolerance = tolerance;
  heed_layer_norm_desc desc = {.struct_size = sizeof desc, .epsilon = epsilon};
  desc.x = op_test_input(&test, HEED_F32, HEED_SHAPE(rows, width), x);
  desc.gain = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), gain);
  desc.bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), bias);
  op_test_expect(&test, heed_define_layer_norm(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(gain);
  free(bias);
  free(y);
}

static void test_widths(void **state) {
  (void)state;
  static const uint32_t widths[] = {2,  3,  4,  5,  7,   8,   15,  16,  17,  31,
                                    33, 63, 64, 65, 127, 129, 192, 384, 768, 1021};
  for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++)
    run(7, widths[i], 0.3f, 2.0f, 1e-6f, 10 + i, 4e-6);
  run(1, 192, 0.0f, 1.0f, 1e-12f, 31, 4e-6);
  run(300, 192, 0.0f, 1.0f, 1e-5f, 32, 4e-6);
  run(2, 20011, 0.0f, 1.0f, 1e-5f, 33, 8e-6);
}

/* x itself is exact; a mean of 1000 must not cost three digits. */
static void test_large_mean(void **state) {
  (void)state;
  run(5, 768, 1000.0f, 1.0f, 1e-6f, 40, 2e-5);
  run(5, 768, -30000.0f, 100.0f, 1e-6f, 41, 2e-5);
}

static void test_no_spread(void **state) {
  (void)state;
  run(3, 1, 5.0f, 1.0f, 1e-5f, 50, 1e-6);
  run(3, 64, 0.0f, 0.0f, 1e-5f, 51, 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_widths),
                                     cmocka_unit_test(test_large_mean),
                                     cmocka_unit_test(test_no_spread)};
  return cmocka_run_group_tests_name("layer_norm", tests, NULL, test_backend_close_all);
}
