/* softmax over the last axis, and what it passes back, against the same in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

static void oracle(const float *x, size_t rows, size_t width, double *y) {
  for (size_t r = 0; r < rows; r++) {
    double largest = -HUGE_VAL, sum = 0.0;
    for (size_t i = 0; i < width; i++) /* subtracted: exp of a logit may overflow; not by fmax: gcc
                                          12 for arm64 crashes on it at -O3 */
      if ((double)x[r * width + i] > largest) largest = (double)x[r * width + i];
    for (size_t i = 0; i < width; i++) sum += exp((double)x[r * width + i] - largest);
    for (size_t i = 0; i < width; i++)
      y[r * width + i] = exp((double)x[r * width + i] - largest) / sum;
  }
}

static void run(heed_shape shape, const float *x, const char *which) {
  char what[160], text[HEED_SHAPE_TEXT_SIZE];
  op_test test;
  const size_t count = (size_t)heed_shape_count(&shape), width = shape.dim[shape.rank - 1];
  double *y = op_test_doubles(count);
  oracle(x, count / width, width, y);
  snprintf(what, sizeof what, "softmax %s, %s", heed_shape_text(&shape, text), which);
  op_test_begin(&test);
  test.tolerance = 2e-6;
  heed_softmax_desc desc = {sizeof desc, op_test_input(&test, HEED_F32, shape, x)};
  op_test_expect(&test, heed_define_softmax(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(y);
}

static void test_shapes(void **state) {
  (void)state;
  static const uint32_t widths[] = {1,  2,  3,  4,  5,  7,  8,  9,   15,   16,
                                    17, 31, 32, 33, 63, 64, 65, 197, 1000, 20011};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    test_random random = {50 + i};
    float *x = op_test_random(&random, (size_t)15 * widths[i], 5.0f);
    run(HEED_SHAPE(3, 5, widths[i]), x, "spread 5");
    run(HEED_SHAPE(widths[i]), x, "one row");
    free(x);
  }
}

/* Large logits, far apart, and -Inf among them. */
static void test_range(void **state) {
  (void)state;
  enum { WIDTH = 37 };
  test_random random = {8};
  float *x = op_test_random(&random, 6 * WIDTH, 1e4f);
  for (size_t i = 0; i < WIDTH; i++) x[i] = i == 20 ? 3e38f : -3e38f;
  for (size_t i = WIDTH; i < 2 * WIDTH; i += 3) x[i] = -INFINITY;
  for (size_t i = 2 * WIDTH; i < 3 * WIDTH; i++) x[i] = -1e5f + 0.25f * (float)i;
  run(HEED_SHAPE(6, WIDTH), x, "wide range, seed 8");
  free(x);
}

/* NaN, +Inf and a row of -Inf have no softmax. */
static void test_not_a_number(void **state) {
  (void)state;
  enum { WIDTH = 21, ROWS = 4 };
  op_test test;
  float x[ROWS * WIDTH];
  double y[ROWS * WIDTH];
  for (size_t i = 0; i < ROWS * WIDTH; i++) {
    x[i] = i / WIDTH == 2 ? -INFINITY : 0.0f;
    y[i] = i / WIDTH == 3 ? 1.0 / (double)WIDTH : (double)NAN;
  }
  x[WIDTH - 1] = NAN;
  x[WIDTH + 3] = INFINITY;
  op_test_begin(&test);
  heed_softmax_desc desc = {sizeof desc,
                            op_test_input(&test, HEED_F32, HEED_SHAPE(ROWS, WIDTH), x)};
  op_test_expect(&test, heed_define_softmax(test.graph, &desc), y);
  op_test_run(&test, "softmax of NaN, +Inf, only -Inf");
  op_test_end(&test);
}

/* What the input of a softmax gets: the whole matrix of derivatives y_i (1[i = k] - y_k) times g.
 */
static void run_gradient(uint32_t rows, uint32_t width, float factor, uint64_t seed) {
  char what[120];
  op_test test;
  test_random random = {seed};
  const size_t count = (size_t)rows * width;
  const heed_shape shape = HEED_SHAPE(rows, width);
  float *x = op_test_random(&random, count, 1.0f), *g = op_test_random(&random, count, 2.0f);
  double *y = op_test_doubles(count);
  for (size_t r = 0; r < rows; r++) {
    double sum = 0.0;
    for (size_t i = 0; i < width; i++) sum += fabs((double)x[r * width + i]);
    for (size_t i = 0; i < width; i++)
      x[r * width + i] = (float)(fabs((double)x[r * width + i]) / sum);
    for (size_t i = 0; i < width; i++)
      for (size_t k = 0; k < width; k++)
        y[r * width + k] += (double)(factor != 0.0f ? factor : 1.0f) * (double)x[r * width + i] *
                            ((i == k) - (double)x[r * width + k]) * (double)g[r * width + i];
  }
  snprintf(what, sizeof what, "softmax's gradient [%u, %u], factor %g, seed %llu", rows, width,
           (double)factor, (unsigned long long)seed);
  op_test_begin(&test);
  test.tolerance = 2e-6;
  const heed_softmax_desc desc = {sizeof desc, op_test_input(&test, HEED_F32, shape, x),
                                  op_test_input(&test, HEED_F32, shape, g), factor};
  op_test_expect(&test, heed_define_softmax(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(g);
  free(y);
}

static void test_gradient(void **state) {
  (void)state;
  static const uint32_t widths[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 63, 65, 128, 197, 1000};
  for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    run_gradient(7, widths[i], 0.0f, 90 + i);
    run_gradient(1, widths[i], 0.125f, 120 + i);
  }
}

/* A gradient has the shape of what the softmax gave. */
static void test_wrong_gradient(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_softmax_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_define_input(test.graph, "x", HEED_F32, &HEED_SHAPE(2, 3)),
      .gradient = heed_define_input(test.graph, "g", HEED_F32, &HEED_SHAPE(3, 2))};
  heed_define_softmax(test.graph, &desc);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "softmax: gradient: wrong shape (found [3, 2], expected [2, 3])");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_range),
                                     cmocka_unit_test(test_not_a_number),
                                     cmocka_unit_test(test_gradient),
                                     cmocka_unit_test(test_wrong_gradient)};
  return cmocka_run_group_tests_name("softmax", tests, NULL, test_backend_close_all);
}
