/* layer_norm against the same in double: widths around every tile, means far from 0, rows without
 * spread; about 0 instead of the mean (rms), and without a bias; what it passes back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct norm_case {
  uint32_t rows, width;
  float mean, spread, epsilon;
  uint64_t seed;
  double tolerance;
  bool rms, no_bias;
  bool nan; /* is among the first row */
} norm_case;

static void norm_row(const norm_case *c, const float *x, const float *gain, const float *bias,
                     double *y) {
  const uint32_t width = c->width;
  double mean = 0.0, square = 0.0;
  for (size_t i = 0; i < width && !c->rms; i++) mean += (double)x[i] / width;
  for (size_t i = 0; i < width; i++) square += pow((double)x[i] - mean, 2);
  for (size_t i = 0; i < width; i++)
    y[i] = ((double)x[i] - mean) / sqrt(square / width + (double)c->epsilon) * (double)gain[i] +
           (c->no_bias ? 0.0 : (double)bias[i]);
}

static void run(const norm_case *c) {
  char what[160];
  if (!test_takes()) return;
  const uint32_t rows = c->rows, width = c->width;
  test_random random = {c->seed};
  op_test test;
  float *x = op_test_random(&random, (size_t)rows * width, c->spread),
        *gain = op_test_random(&random, width, 1.0f), *bias = op_test_random(&random, width, 1.0f);
  double *y = op_test_doubles((size_t)rows * width);
  for (size_t i = 0; i < (size_t)rows * width; i++) x[i] += c->mean;
  if (c->nan) x[width / 2] = NAN;
  for (size_t r = 0; r < rows; r++) norm_row(c, x + r * width, gain, bias, y + r * width);
  snprintf(what, sizeof what, "layer_norm%s%s [%u, %u], mean %g, spread %g, epsilon %g, seed %llu",
           c->rms ? " rms" : "", c->no_bias ? " without bias" : "", rows, width, (double)c->mean,
           (double)c->spread, (double)c->epsilon, (unsigned long long)c->seed);
  op_test_begin(&test);
  test.tolerance = c->tolerance;
  heed_layer_norm_desc desc = {.struct_size = sizeof desc, .epsilon = c->epsilon, .rms = c->rms};
  desc.x = op_test_input(&test, HEED_F32, HEED_SHAPE(rows, width), x);
  desc.gain = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), gain);
  if (!c->no_bias) desc.bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), bias);
  op_test_expect(&test, heed_define_layer_norm(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(gain);
  free(bias);
  free(y);
}

static void run_widths(bool rms, bool no_bias) {
  static const uint32_t widths[] = {2,  3,  4,  5,  7,   8,   15,  16,  17,  31,
                                    33, 63, 64, 65, 127, 129, 192, 384, 768, 1021};
  for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++)
    run(&(norm_case){7, widths[i], 0.3f, 2.0f, 1e-6f, 10 + i, 4e-6, rms, no_bias});
  run(&(norm_case){1, 192, 0.0f, 1.0f, 1e-12f, 31, 4e-6, rms, no_bias});
  run(&(norm_case){300, 192, 0.0f, 1.0f, 1e-5f, 32, 4e-6, rms, no_bias});
  run(&(norm_case){2, 20011, 0.0f, 1.0f, 1e-5f, 33, 8e-6, rms, no_bias});
}

static void test_widths(void **state) {
  (void)state;
  run_widths(false, false);
}

/* Alone, as models have it, and each half of it. */
static void test_rms(void **state) {
  (void)state;
  run_widths(true, true);
  run(&(norm_case){3, 67, 0.3f, 2.0f, 1e-6f, 60, 4e-6, true, false});
  run(&(norm_case){3, 67, 0.3f, 2.0f, 1e-6f, 61, 4e-6, false, true});
  run(&(norm_case){3, 64, 0.3f, 2.0f, 1e-6f, 62, 4e-6, true, false});
  run(&(norm_case){3, 64, 0.3f, 2.0f, 1e-6f, 63, 4e-6, false, true});
  run(&(norm_case){5, 768, 1000.0f, 1.0f, 1e-6f, 64, 4e-6, true, true});
}

/* x itself is exact; a mean of 1000 must not cost three digits. */
static void test_large_mean(void **state) {
  (void)state;
  run(&(norm_case){5, 768, 1000.0f, 1.0f, 1e-6f, 40, 2e-5, false, false});
  run(&(norm_case){5, 768, -30000.0f, 100.0f, 1e-6f, 41, 2e-5, false, false});
}

static void test_no_spread(void **state) {
  (void)state;
  run(&(norm_case){3, 1, 5.0f, 1.0f, 1e-5f, 50, 1e-6, false, false});
  run(&(norm_case){3, 64, 0.0f, 0.0f, 1e-5f, 51, 1e-6, false, false});
  run(&(norm_case){3, 64, 0.0f, 0.0f, 1e-5f, 52, 1e-6, true, true});
}

/* A row with NaN is NaN throughout, and the others are as they were. */
static void test_nan(void **state) {
  (void)state;
  static const uint32_t widths[] = {2, 3, 8, 65, 384, 1021};
  for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++)
    for (int rms = 0; rms < 2; rms++)
      run(&(norm_case){.rows = 3,
                       .width = widths[i],
                       .spread = 2.0f,
                       .epsilon = 1e-5f,
                       .seed = 60 + i,
                       .tolerance = 4e-6,
                       .rms = rms,
                       .nan = true});
}

/* A bias is a constant of the row's width, or none. */
static void test_wrong_bias(void **state) {
  (void)state;
  static const float zeros[8];
  heed_error error = {HEED_OK, ""};
  op_test test;
  for (int computed = 0; computed < 2; computed++) {
    op_test_begin(&test);
    const heed_shape width = HEED_SHAPE(8);
    const heed_layer_norm_desc desc = {
        .struct_size = sizeof desc,
        .x = heed_define_input(test.graph, "x", HEED_F32, &width),
        .gain = op_test_constant(&test, HEED_F32, width, zeros),
        .bias = computed ? heed_define_input(test.graph, "bias", HEED_F32, &width)
                         : op_test_constant(&test, HEED_F32, HEED_SHAPE(7), zeros),
        .rms = true};
    heed_define_layer_norm(test.graph, &desc);
    assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
                 computed ? "layer_norm: bias: not a constant"
                          : "layer_norm: bias: wrong shape (found [7], expected [8])");
    op_test_end(&test);
  }
}

/* What x gets of g: the matrix of derivatives in double, times g. Held: the divisor
 * counts as a constant. */
static void gradient_row(const norm_case *c, bool held, const float *x, const float *gain,
                         const float *g, double *y) {
  const uint32_t width = c->width;
  double mean = 0.0, square = 0.0;
  for (size_t i = 0; i < width && !c->rms; i++) mean += (double)x[i] / width;
  for (size_t i = 0; i < width; i++) square += pow((double)x[i] - mean, 2);
  const double s = sqrt(square / width + (double)c->epsilon);
  for (size_t k = 0; k < width; k++) {
    y[k] = 0.0;
    for (size_t i = 0; i < width; i++) {
      const double centred = (i == k) - (c->rms ? 0.0 : 1.0 / width),
                   turned = ((double)x[i] - mean) * ((double)x[k] - mean) / (s * s * width);
      y[k] += (double)g[i] * (double)gain[i] * (centred - (held ? 0.0 : turned)) / s;
    }
  }
}

static void run_gradient(const norm_case *c, bool held) {
  char what[160];
  if (!test_takes()) return;
  const uint32_t rows = c->rows, width = c->width;
  test_random random = {c->seed};
  op_test test;
  float *x = op_test_random(&random, (size_t)rows * width, c->spread),
        *g = op_test_random(&random, (size_t)rows * width, 1.0f),
        *gain = op_test_random(&random, width, 1.0f);
  double *y = op_test_doubles((size_t)rows * width);
  for (size_t i = 0; i < (size_t)rows * width; i++) x[i] += c->mean;
  for (size_t r = 0; r < rows; r++)
    gradient_row(c, held, x + r * width, gain, g + r * width, y + r * width);
  snprintf(what, sizeof what, "layer_norm's gradient%s%s [%u, %u], mean %g, seed %llu",
           c->rms ? " rms" : "", held ? " held" : "", rows, width, (double)c->mean,
           (unsigned long long)c->seed);
  op_test_begin(&test);
  test.tolerance = c->tolerance;
  const heed_layer_norm_desc desc = {
      .struct_size = sizeof desc,
      .x = op_test_input(&test, HEED_F32, HEED_SHAPE(rows, width), x),
      .gain = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), gain),
      .epsilon = c->epsilon,
      .rms = c->rms,
      .held = held,
      .gradient = op_test_input(&test, HEED_F32, HEED_SHAPE(rows, width), g)};
  op_test_expect(&test, heed_define_layer_norm(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(g);
  free(gain);
  free(y);
}

static void test_gradient(void **state) {
  (void)state;
  static const uint32_t widths[] = {1,  2,  3,  4,  5,  7,   8,   15,  16,  17,
                                    31, 33, 63, 64, 65, 127, 129, 192, 384, 1021};
  for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++)
    for (int kind = 0; kind < 4; kind++)
      run_gradient(&(norm_case){.rows = 5,
                                .width = widths[i],
                                .mean = kind & 1 ? 0.3f : 30.0f,
                                .spread = 2.0f,
                                .epsilon = 1e-3f,
                                .seed = 80 + i,
                                .tolerance = 4e-6,
                                .rms = kind & 1},
                   kind & 2);
}

/* A gradient has x's shape, and no bias beside it. */
static void test_wrong_gradient(void **state) {
  (void)state;
  static const float zeros[8];
  heed_error error = {HEED_OK, ""};
  op_test test;
  for (int biased = 0; biased < 2; biased++) {
    op_test_begin(&test);
    const heed_shape width = HEED_SHAPE(8);
    const heed_layer_norm_desc desc = {
        .struct_size = sizeof desc,
        .x = heed_define_input(test.graph, "x", HEED_F32, &width),
        .gain = op_test_constant(&test, HEED_F32, width, zeros),
        .bias = biased ? op_test_constant(&test, HEED_F32, width, zeros) : (heed_value){0},
        .gradient = heed_define_input(test.graph, "g", HEED_F32, biased ? &width : &HEED_SHAPE(4))};
    heed_define_layer_norm(test.graph, &desc);
    assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
                 biased ? "layer_norm: a bias beside a gradient (expected none)"
                        : "layer_norm: gradient: wrong shape (found [4], expected [8])");
    op_test_end(&test);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_widths),     cmocka_unit_test(test_rms),
      cmocka_unit_test(test_large_mean), cmocka_unit_test(test_no_spread),
      cmocka_unit_test(test_nan),        cmocka_unit_test(test_wrong_bias),
      cmocka_unit_test(test_gradient),   cmocka_unit_test(test_wrong_gradient)};
  return cmocka_run_group_tests_name("layer_norm", tests, NULL, test_backend_close_all);
}
