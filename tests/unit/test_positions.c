/* Position embeddings of another grid: against the two-dimensional definition in double, point by
 * point. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "model/families/positions.h"

static double kernel(double x, double a) {
  const double t = fabs(x);
  if (t <= 1.0) return (a + 2.0) * t * t * t - (a + 3.0) * t * t + 1.0;
  if (t < 2.0) return a * t * t * t - 5.0 * a * t * t + 8.0 * a * t - 4.0 * a;
  return 0.0;
}

/* The share of the value at `x` that linear interpolation between points `left` < `here` < `right`
 * gives to `here`; an end beyond which there is nothing keeps its value. */
static double hat(double x, double left, double here, double right, bool first, bool last) {
  if (x == here || (first && x < here) || (last && x > here)) return 1.0;
  if (x < here) return x > left ? (x - left) / (here - left) : 0.0;
  return x < right ? (right - x) / (right - here) : 0.0;
}

/* Where the stored distance `index` of `from` lies on a grid of `to`: a sum of powers of q. */
static double spread(uint32_t from, uint32_t to, int index) {
  double low = 1.01, high = 1.5, q = 0.0, sum = 0.0;
  const int half = (int)from / 2;
  while (high - low > 1e-6) {
    q = (low + high) / 2.0;
    if ((1.0 - pow(q, half)) / (1.0 - q) > to / 2)
      high = q;
    else
      low = q;
  }
  for (int power = 0; power < abs(index - half); power++) sum += pow(q, power);
  return index < half ? -sum : sum;
}

/* Weight with which input i of `from` enters output o of `to`. */
static double weight(uint32_t from, uint32_t to, uint32_t o, uint32_t i,
                     const heed_position_rule *rule) {
  const bool first = i == 0, last = i + 1 == from;
  if (rule == &heed_positions_spread)
    return hat((double)o - to / 2, spread(from, to, (int)i - 1), spread(from, to, (int)i),
               spread(from, to, (int)i + 1), first, last);
  const double scale = (double)from / (to + (rule == &heed_positions_offset ? 0.1 : 0.0)),
               centre = (o + 0.5) * scale - 0.5;
  if (rule == &heed_positions_nearest) return i == (uint64_t)o * from / to ? 1.0 : 0.0;
  if (rule == &heed_positions_linear) return hat(centre, i - 1.0, i, i + 1.0, first, last);
  const double stretch = scale > 1.0 ? scale : 1.0;
  if (rule == &heed_positions_cut) {
    const double at = to > 1 ? o * (from - 1.0) / (to - 1.0) : 0.0;
    return fmax(0.0, 1.0 - fabs(at - i));
  }
  if (rule == &heed_positions_smooth) {
    double sum = 0.0;
    for (uint32_t k = 0; k < from; k++) sum += fmax(0.0, stretch - fabs(k - centre));
    return fmax(0.0, stretch - fabs(i - centre)) / sum;
  }
  if (rule == &heed_positions_antialiased) {
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

/* [to][from]: the weights of one axis beside one of `other`, which belongs to the caller. */
static double *weights(uint32_t from, uint32_t to, uint32_t other, const heed_position_rule *rule) {
  double *table = malloc(sizeof(double) * to * from);
  const uint32_t whole = rule == &heed_positions_cut && other > to ? other : to;
  for (uint32_t o = 0; o < to; o++)
    for (uint32_t i = 0; i < from; i++) table[o * from + i] = weight(from, whole, o, i, rule);
  return table;
}

static void check(uint32_t side, uint32_t rows, uint32_t columns, const heed_position_rule *rule) {
  enum { DEPTH = 3 };
  heed_context *context;
  heed_error error;
  test_random random = {side * 100u + rows};
  float *grid = malloc(sizeof(float) * side * side * DEPTH),
        *found = malloc(sizeof(float) * rows * columns * DEPTH);
  double *down = weights(side, rows, columns, rule), *across = weights(side, columns, rows, rule);
  for (uint32_t i = 0; i < side * side * DEPTH; i++) grid[i] = test_random_normal(&random);
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_positions_resize(context, grid, side, DEPTH, rows, columns, rule, found, &error));
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t c = 0; c < columns; c++)
      for (uint32_t d = 0; d < DEPTH; d++) {
        double sum = 0.0;
        for (uint32_t y = 0; y < side; y++)
          for (uint32_t x = 0; x < side; x++)
            sum += down[r * side + y] * across[c * side + x] *
                   (double)grid[(y * side + x) * DEPTH + d];
        if (fabs(sum - (double)found[(r * columns + c) * DEPTH + d]) > 2e-6)
          fail_msg("%u to %ux%u, %s, at (%u, %u, %u): found %g, expected %g", side, rows, columns,
                   rule->text, r, c, d, (double)found[(r * columns + c) * DEPTH + d], sum);
      }
  heed_context_destroy(context);
  free(down);
  free(across);
  free(grid);
  free(found);
}

static void test_resize_equals_the_definition(void **state) {
  (void)state;
  static const uint32_t sizes[][3] = {{14, 24, 24}, {14, 14, 14}, {14, 7, 9}, {4, 13, 5},
                                      {1, 3, 2},    {37, 16, 16}, {5, 5, 6}};
  static const heed_position_rule *const rules[] = {
      &heed_positions_plain,  &heed_positions_antialiased, &heed_positions_offset,
      &heed_positions_linear, &heed_positions_smooth,      &heed_positions_cut,
      &heed_positions_nearest};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t rule = 0; rule < sizeof rules / sizeof *rules; rule++)
      check(sizes[i][0], sizes[i][1], sizes[i][2], rules[rule]);
}

/* Tables of relative positions have odd sides. */
static void test_spread_distances_equal_the_definition(void **state) {
  (void)state;
  static const uint32_t sizes[][3] = {{27, 47, 47}, {27, 27, 13}, {9, 5, 11},
                                      {9, 39, 1},   {1, 3, 5},    {3, 7, 3}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    check(sizes[i][0], sizes[i][1], sizes[i][2], &heed_positions_spread);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_resize_equals_the_definition),
                                     cmocka_unit_test(test_spread_distances_equal_the_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
