/* Groups of heads, distances of their maps and shares of regions, beside definitions written out.
 */
#include <math.h>
#include <string.h>

#include "heed/explain.h"
#include "support/test.h"
#include "support/test_context.h"

enum { MOST = 9, TOKENS = 6 };

/* ------------------------------------------------------------------------------------ distances */

/* By entropies: H((p + q) / 2) - (H(p) + H(q)) / 2. */
static double divergence_of(const float *a, const float *b, uint32_t n) {
  double sums[2] = {0, 0}, result = 0;
  for (uint32_t i = 0; i < n; i++) {
    sums[0] += (double)a[i];
    sums[1] += (double)b[i];
  }
  for (uint32_t i = 0; i < n; i++) {
    const double p = (double)a[i] / sums[0], q = (double)b[i] / sums[1], m = (p + q) / 2;
    result -= m > 0 ? m * log(m) : 0;
    result += ((p > 0 ? p * log(p) : 0) + (q > 0 ? q * log(q) : 0)) / 2;
  }
  return result;
}

static void fill(float *maps, size_t count) {
  test_random random = {3};
  for (size_t i = 0; i < count; i++)
    maps[i] = test_random_below(&random, 4) ? test_random_uniform(&random, 0, 1) : 0;
}

static void test_distances(void **state) {
  float maps[3 * TOKENS * TOKENS];
  double found[9];
  (void)state;
  fill(maps, sizeof maps / sizeof *maps);
  for (uint32_t stride = 0; stride < 4; stride++) {
    heed_map_distances(maps, 3, TOKENS, TOKENS, stride, found);
    for (uint32_t a = 0; a < 3; a++)
      for (uint32_t b = 0; b < 3; b++) {
        double sum = 0;
        uint32_t count = 0;
        for (uint32_t t = 0; t < TOKENS; t += stride ? stride : 1, count++)
          sum += divergence_of(maps + (a * TOKENS + t) * TOKENS, maps + (b * TOKENS + t) * TOKENS,
                               TOKENS);
        assert_true(fabs(found[3 * a + b] - sum / count) < 1e-12);
      }
  }
  const float apart[2][2] = {{1, 0}, {0, 3}};
  assert_true(fabs(heed_map_divergence(apart[0], apart[1], 2) - log(2.0)) < 1e-15);
  assert_true(heed_map_divergence(apart[0], apart[0], 2) == 0.0);
}

/* --------------------------------------------------------------------------------------- groups */

/* The mean of all pairs of two sets of bits. */
static double apart(const double *distances, uint32_t n, uint32_t a, uint32_t b) {
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n; k++)
      if (a >> i & 1 && b >> k & 1) {
        sum += distances[i * n + k];
        count++;
      }
  return sum / count;
}

static uint32_t members(uint32_t set) {
  uint32_t count = 0;
  for (; set; set &= set - 1) count++;
  return count;
}

/* Sets that are joined pair by pair, then sorted: by size, then by the lowest member. */
static uint32_t group_by_sets(const double *distances, uint32_t n, double limit, uint32_t *group) {
  uint32_t sets[MOST], count = n;
  for (uint32_t i = 0; i < n; i++) sets[i] = 1u << i;
  for (;;) {
    double nearest = limit;
    uint32_t from = 0, into = 0;
    for (uint32_t a = 0; a < count; a++)
      for (uint32_t b = 0; b < a; b++)
        if (apart(distances, n, sets[a], sets[b]) < nearest) {
          nearest = apart(distances, n, sets[a], sets[b]);
          from = a;
          into = b;
        }
    if (from == into) break;
    sets[into] |= sets[from];
    memmove(sets + from, sets + from + 1, (--count - from) * sizeof *sets);
  }
  for (uint32_t number = 0; number < count; number++) {
    uint32_t best = number;
    for (uint32_t k = number + 1; k < count; k++) {
      const uint32_t lowest = sets[k] & -sets[k], of_best = sets[best] & -sets[best];
      if (members(sets[k]) > members(sets[best]) ||
          (members(sets[k]) == members(sets[best]) && lowest < of_best))
        best = k;
    }
    const uint32_t set = sets[best];
    sets[best] = sets[number];
    sets[number] = set;
    for (uint32_t i = 0; i < n; i++)
      if (set >> i & 1) group[i] = number;
  }
  return count;
}

static void test_groups(void **state) {
  test_random random = {11};
  (void)state;
  for (uint32_t round = 0; round < 300; round++) {
    const uint32_t n = round % (MOST + 1);
    double distances[MOST * MOST] = {0};
    uint32_t found[MOST], expected[MOST], groups = 99;
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < i; k++)
        distances[i * n + k] = distances[k * n + i] = (double)test_random_uniform(&random, 0, 1);
    const double limit = (double)test_random_uniform(&random, 0, 1);
    assert_int_equal(heed_map_groups(context, distances, n, limit, found, &groups, &error),
                     HEED_OK);
    assert_int_equal(groups, group_by_sets(distances, n, limit, expected));
    for (uint32_t i = 0; i < n; i++) assert_int_equal(found[i], expected[i]);
  }
}

/* Equal distances: the lower members first, as the header promises. */
static void test_ties(void **state) {
  (void)state;
  const double equal[16] = {0, 1, 2, 2, 1, 0, 2, 2, 2, 2, 0, 1, 2, 2, 1, 0};
  uint32_t group[4], groups;
  assert_int_equal(heed_map_groups(context, equal, 4, 1.5, group, &groups, &error), HEED_OK);
  assert_int_equal(groups, 2);
  const uint32_t expected[] = {0, 0, 1, 1};
  assert_memory_equal(group, expected, sizeof expected);
  assert_int_equal(heed_map_groups(context, equal, 4, 1.0, group, &groups, &error), HEED_OK);
  assert_int_equal(groups, 4); /* nearer than the limit */
}

/* --------------------------------------------------------------------------------------- shares */

static void test_shares(void **state) {
  const float attention[9] = {0.5f, 0.25f, 0.25f, 0.125f, 0.5f, 0.375f, 0.25f, 0.25f, 0.5f};
  const uint8_t last[] = {0, 0, 1}, none[] = {0, 0, 0}, all[] = {1, 1, 1};
  (void)state;
  assert_true(heed_map_share(attention, last, 3) == 0.25);
  assert_true(heed_map_share(attention, none, 3) == 0.0);
  assert_true(heed_map_mean_share(attention, 3, 1, last) == 0.375); /* of query 1 alone */
  assert_true(heed_map_mean_share(attention, 3, 0, last) == 0.3125);
  assert_true(heed_map_mean_share(attention, 3, 1, all) == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances),
                                     cmocka_unit_test(test_groups), cmocka_unit_test(test_ties),
                                     cmocka_unit_test(test_shares)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
