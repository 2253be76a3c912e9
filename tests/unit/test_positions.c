/* Position embeddings of another grid: against the two-dimensional definition in double, point by
 * point. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "model/positions.h"

static double kernel(double x, double a) {
  const double t = fabs(x);
  if (t <= 1.0) return (a + 2.0) * t * t * t - (a + 3.0) * t * t + 1.0;
  if (t < 2.0) return a * t * t * t - 5.0 * a * t * t + 8.0 * a * t - 4.0 * a;
  return 0.0;
}

/* Weight with which input i of `from` enters output o of `to`. */
static double weight(uint32_t from, uint32_t to, uint32_t o, uint32_t i,
                     const heed_position_rule *rule) {
  const double scale = (double)from / (to + rule->offset), centre = (o + 0.5) * scale - 0.5;
  if (rule->antialias) {
    const double stretch = scale > 1.0 ? scale : 1.0;
    double sum = 0.0;
    for (uint32_t k = 0; k < from; k++) sum += kernel((k - centre) / stretch, -0.5);
    return kernel((i - centre) / stretch, -0.5) / sum;
  }
  double sum = 0.0; /* taps beyond the edge are the edge */
  for (int tap = (int)floor(centre) - 1; tap <= (int)floor(centre) + 2; tap++) {
    const int clamped = tap < 0 ? 0 : tap >= (int)from ? (int)from - 1 : tap;
    if (clamped == (int)i) sum += kernel(centre - tap, -0.75);
  }
  return sum;
}

static void check(uint32_t side, uint32_t rows, uint32_t columns, const heed_position_rule *rule) {
  enum { DEPTH = 3 };
  heed_context *context;
  heed_error error;
  test_random random = {side * 100u + rows};
  float *grid = malloc(sizeof(float) * side * side * DEPTH),
        *found = malloc(sizeof(float) * rows * columns * DEPTH);
  for (uint32_t i = 0; i < side * side * DEPTH; i++) grid[i] = test_random_normal(&random);
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_positions_resize(context, grid, side, DEPTH, rows, columns, rule, found, &error));
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t c = 0; c < columns; c++)
      for (uint32_t d = 0; d < DEPTH; d++) {
        double sum = 0.0;
        for (uint32_t y = 0; y < side; y++)
          for (uint32_t x = 0; x < side; x++)
            sum += weight(side, rows, r, y, rule) * weight(side, columns, c, x, rule) *
                   (double)grid[(y * side + x) * DEPTH + d];
        if (fabs(sum - (double)found[(r * columns + c) * DEPTH + d]) > 2e-6)
          fail_msg("%u to %ux%u, %s, at (%u, %u, %u): found %g, expected %g", side, rows, columns,
                   rule->text, r, c, d, (double)found[(r * columns + c) * DEPTH + d], sum);
      }
  heed_context_destroy(context);
  free(grid);
  free(found);
}

static void test_resize_equals_the_definition(void **state) {
  (void)state;
  static const uint32_t sizes[][3] = {{14, 24, 24}, {14, 14, 14}, {14, 7, 9}, {4, 13, 5},
                                      {1, 3, 2},    {37, 16, 16}, {5, 5, 6}};
  static const heed_position_rule rules[] = {{.text = "plain"},
                                             {.antialias = true, .text = "antialiased"},
                                             {.offset = 0.1, .text = "with an offset"}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t rule = 0; rule < sizeof rules / sizeof *rules; rule++)
      check(sizes[i][0], sizes[i][1], sizes[i][2], &rules[rule]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_resize_equals_the_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
