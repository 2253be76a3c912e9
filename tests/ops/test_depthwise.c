/* depthwise against sums, means and maxima of one window after another, in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct sizes {
  uint32_t batch, channels, outputs, height, width;
} sizes;

static bool is_within(int64_t at, int64_t low, int64_t high) { return at >= low && at < high; }

/* The window of one result. plane: its channel, [height, width]. */
static double window_of(const heed_depthwise_desc *d, const sizes *s, const float *plane,
                        const float *weight, int64_t row, int64_t column) {
  const int64_t height = s->height, width = s->width;
  double sum = 0, most = -(double)INFINITY, counted = 0;
  for (uint32_t k = 0; k < d->kernel[0] * d->kernel[1]; k++) {
    const int64_t y = row * d->stride[0] + k / d->kernel[1] * d->dilation[0] - d->before[0],
                  x = column * d->stride[1] + k % d->kernel[1] * d->dilation[1] - d->before[1];
    const bool inside = is_within(y, 0, height) && is_within(x, 0, width);
    counted +=
        inside || (d->count_padding && is_within(y, -(int64_t)d->before[0], height + d->after[0]) &&
                   is_within(x, -(int64_t)d->before[1], width + d->after[1]));
    if (!inside) continue;
    const double v = (double)plane[y * width + x];
    sum += d->kind == HEED_DEPTHWISE_SUM ? v * (double)weight[k] : v;
    if (isnan(v) || v > most) most = v;
  }
  return d->kind == HEED_DEPTHWISE_MAX    ? most
         : d->kind == HEED_DEPTHWISE_MEAN ? sum / counted
                                          : sum;
}

static float *numbers(test_random *random, size_t count, heed_depthwise kind) {
  float *x = op_test_random(random, count, 1.0f);
  for (size_t i = 0; i < count && kind == HEED_DEPTHWISE_MAX; i += 1 + count / 3)
    x[i] = i ? -INFINITY : NAN;
  return x;
}

static uint32_t fitting(const heed_depthwise_desc *d, uint32_t i, uint32_t size) {
  const uint32_t extent = (d->kernel[i] - 1) * d->dilation[i] + 1;
  return (size + d->before[i] + d->after[i] - extent) / d->stride[i] + 1;
}

static void run(sizes s, heed_depthwise_desc d, bool bias, bool same_bits, uint64_t seed) {
  char what[200];
  test_random random = {seed};
  op_test test;
  const size_t plane = (size_t)s.height * s.width, taps = (size_t)d.kernel[0] * d.kernel[1];
  float *x = numbers(&random, s.batch * s.channels * plane, d.kind),
        *weight = op_test_random(&random, s.outputs * taps, 1.0f),
        *shift = op_test_random(&random, s.outputs, 1.0f);
  snprintf(what, sizeof what,
           "depthwise %u x %u x %u x %u, kind %d, kernel %u x %u, stride %u %u, dilation %u %u, "
           "padding %u %u %u %u, seed %llu",
           s.batch, s.channels, s.height, s.width, (int)d.kind, d.kernel[0], d.kernel[1],
           d.stride[0], d.stride[1], d.dilation[0], d.dilation[1], d.before[0], d.before[1],
           d.after[0], d.after[1], (unsigned long long)seed);
  op_test_begin(&test);
  heed_depthwise_desc desc = d;
  desc.struct_size = sizeof desc;
  desc.x = op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.channels, s.height, s.width), x);
  if (d.kind == HEED_DEPTHWISE_SUM) {
    desc.weight =
        op_test_constant(&test, HEED_F32, HEED_SHAPE(s.outputs, d.kernel[0], d.kernel[1]), weight);
    if (bias) desc.bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(s.outputs), shift);
  }
  const heed_value value = heed_define_depthwise(test.graph, &desc);
  heed_value_info info;
  heed_error error = {HEED_OK, ""};
  assert_ok(heed_graph_value_info(test.graph, value, &info));
  const uint32_t *y = info.shape.dim, outputs = d.kind ? s.channels : s.outputs;
  assert_int_equal(y[1], outputs);
  for (uint32_t i = 0; i < 2; i++)
    assert_int_equal(y[2 + i], d.size[i] ? d.size[i] : fitting(&d, i, i ? s.width : s.height));
  double *expected = op_test_doubles((size_t)heed_shape_count(&info.shape));
  for (size_t i = 0; i < heed_shape_count(&info.shape); i++) {
    const size_t output = i / y[3] / y[2] % outputs, channel = output / (outputs / s.channels),
                 batch = i / y[3] / y[2] / outputs;
    expected[i] =
        window_of(&d, &s, x + (batch * s.channels + channel) * plane, weight + output * taps,
                  (int64_t)(i / y[3] % y[2]), (int64_t)(i % y[3])) +
        (desc.bias.id ? (double)shift[output] : 0);
  }
  op_test_expect(&test, value, expected);
  op_test_run(&test, what);
  if (same_bits) op_test_same_bits(&test, what);
  op_test_end(&test);
  free(x), free(weight), free(shift), free(expected);
}

static heed_depthwise_desc window(heed_depthwise kind, uint32_t rows, uint32_t columns,
                                  uint32_t stride, uint32_t dilation, uint32_t padding) {
  return (heed_depthwise_desc){.kind = kind,
                               .kernel = {rows, columns},
                               .stride = {stride, stride},
                               .dilation = {dilation, dilation},
                               .before = {padding, padding},
                               .after = {padding, padding}};
}

static void test_table(void **state) {
  (void)state;
  static const uint32_t widths[] = {3, 15, 16, 17, 31, 63, 64, 65, 101};
  for (int kind = 0; kind < 3; kind++) {
    const heed_depthwise k = (heed_depthwise)kind;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
      run((sizes){1, 3, 3, 5, widths[i]}, window(k, 3, 3, 1, 1, 1), i % 2, false, 10 + i);
    run((sizes){2, 3, 6, 9, 23}, window(k, 3, 2, 2, 1, 1), true, false, 1);
    run((sizes){2, 3, 3, 19, 23}, window(k, 3, 3, 1, 3, 3), false, false, 2);
    run((sizes){1, 2, 2, 29, 31}, window(k, 2, 2, 5, 1, 0), false, false, 3);
    run((sizes){1, 2, 2, 29, 31}, window(k, 3, 4, 3, 2, 4), true, false, 4);
    run((sizes){1, 2, 2, 20, 20}, window(k, 7, 7, 4, 1, 3), false, false, 5);
    run((sizes){1, 1, 1, 1, 1}, window(k, 1, 1, 1, 1, 0), false, false, 6);
    run((sizes){1, 1, 4, 1, 1300}, window(k, 1, 300, 7, 1, 0), false, false, 7);
    run((sizes){1, 2, 2, 40, 30}, window(k, 40, 30, 1, 1, 0), true, false, 8);
    run((sizes){3, 64, 64, 56, 57}, window(k, 3, 3, 1, 1, 1), true, true, 9);
    run((sizes){1, 2, 2, 70, 1100}, window(k, 3, 3, 2, 1, 1), true, true, 20);
  }
}

/* Windows that lie in the padding, in whole or beyond it; padding of one side; sizes that are
 * asked for. */
static void test_padding(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int counted = 0; counted < 2; counted++) {
      heed_depthwise_desc d = window((heed_depthwise)kind, 3, 2, 2, 1, 0);
      d.count_padding = counted != 0;
      d.before[1] = d.after[0] = 1;
      run((sizes){1, 2, 4, 8, 9}, d, false, false, 1);
      d.size[0] = d.size[1] = 5; /* the last begin in the padding */
      run((sizes){1, 2, 2, 8, 9}, d, true, false, 2);
      d = window((heed_depthwise)kind, 2, 2, 1, 1, 4);
      d.count_padding = counted != 0;
      run((sizes){1, 2, 2, 3, 3}, d, true, false, 3);
    }
}

static void test_random_cases(void **state) {
  (void)state;
  const uint32_t cases = op_test_share(120);
  for (uint32_t i = 0; i < cases; i++) {
    test_random random = {1000 + i};
    heed_depthwise_desc d = {.kind = (heed_depthwise)(i % 3), .count_padding = i % 2};
    for (uint32_t a = 0; a < 2; a++) {
      d.kernel[a] = 1 + test_random_below(&random, 5);
      d.stride[a] = 1 + test_random_below(&random, 4);
      d.dilation[a] = 1 + test_random_below(&random, 3);
      d.before[a] = test_random_below(&random, 4);
      d.after[a] = test_random_below(&random, 4);
    }
    const uint32_t channels = 1 + test_random_below(&random, 3);
    run((sizes){1 + test_random_below(&random, 2), channels,
                channels * (1 + test_random_below(&random, 3)), 13 + test_random_below(&random, 20),
                13 + test_random_below(&random, 90)},
        d, i % 4 == 0, false, i);
  }
}

static void wrong(heed_depthwise_desc desc, const heed_shape *weight, uint32_t rank,
                  const char *sentence) {
  static const float zeros[64];
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  heed_shape shape = HEED_SHAPE(1, 2, 5, 6);
  shape.rank = rank;
  desc.struct_size = sizeof desc;
  desc.x = heed_define_input(test.graph, "x", HEED_F32, &shape);
  if (weight) desc.weight = op_test_constant(&test, HEED_F32, *weight, zeros);
  assert_int_equal(heed_define_depthwise(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  const heed_shape three = HEED_SHAPE(3, 2, 2), two = HEED_SHAPE(2, 2, 2), flat = HEED_SHAPE(2, 4);
  heed_depthwise_desc d = {0};
  wrong(d, NULL, 4, "depthwise: weight: unknown value (found id 0");
  wrong(d, &three, 4,
        "depthwise: outputs do not fit the channels (found 3, expected a multiple of 2)");
  wrong(d, &flat, 4, "depthwise: weight: wrong");
  wrong(d, &two, 3, "depthwise: x: wrong");
  d.kernel[0] = 3;
  wrong(d, &two, 4, "depthwise: weight: wrong shape");
  d.kind = HEED_DEPTHWISE_MAX;
  wrong(d, &two, 4, "depthwise: a mean or maximum has no weight and no bias");
  wrong(d, NULL, 4,
        "depthwise: elements of the kernel out of range (found 3 x 0, expected 1 to 32767)");
  d.kernel[1] = 7;
  wrong(d, NULL, 4, "depthwise: window larger than the image (found 7, expected 6)");
  d.before[1] = 1u << 30;
  wrong(d, NULL, 4, "depthwise: padded image too large (found 1073741830, expected at most");
  d.before[1] = 1;
  d.size[1] = 8;
  wrong(d, NULL, 4, "depthwise: size out of range (found 8, expected at most 7)");
  d.kind = (heed_depthwise)3;
  wrong(d, NULL, 4, "depthwise: unknown kind (found 3)");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_padding),
                                     cmocka_unit_test(test_random_cases),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("depthwise", tests, NULL, test_backend_close_all);
}
