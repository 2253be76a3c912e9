/* What judges a map without the model, against its definition: order, Spearman's correlation by the
 * differences of ranks, localisation by counting, imputation by the equations that it solves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test_context.h"

static void test_order(void **state) {
  (void)state;
  const float map[] = {1.0f, NAN, 3.0f, 1.0f, -2.0f, INFINITY, NAN};
  const uint32_t expected[] = {5, 2, 0, 3, 4, 1, 6};
  uint32_t order[7];
  heed_map_order(map, 7, order);
  assert_memory_equal(order, expected, sizeof expected);
}

/* Without ties it is 1 - 6 sum d^2 / (n (n^2 - 1)). */
static void test_spearman(void **state) {
  (void)state;
  enum { N = 40 };
  test_random random = {7};
  float a[N], b[N];
  double rho, squares = 0.0;
  for (int i = 0; i < N; i++) {
    a[i] = test_random_normal(&random);
    b[i] = a[i] + test_random_normal(&random);
  }
  for (int i = 0; i < N; i++) {
    int place = 0, other = 0;
    for (int k = 0; k < N; k++) {
      place += fabsf(a[k]) < fabsf(a[i]);
      other += fabsf(b[k]) < fabsf(b[i]);
    }
    squares += (double)((place - other) * (place - other));
  }
  assert_ok(heed_map_spearman(context, a, b, N, &rho, &error));
  assert_true(fabs(rho - (1.0 - 6.0 * squares / (N * (N * N - 1.0)))) < 1e-12);
  assert_ok(heed_map_spearman(context, a, a, N, &rho, &error));
  assert_true(fabs(rho - 1.0) < 1e-12);
}

/* Equal numbers share the mean of their ranks: 0.5 0.5 2 against 0 2 1. */
static void test_spearman_ties(void **state) {
  (void)state;
  const float a[] = {1.0f, -1.0f, 2.0f}, b[] = {0.0f, 3.0f, 1.0f}, same[] = {2.0f, 2.0f, -2.0f},
              none[] = {1.0f, NAN, 2.0f};
  double rho;
  assert_ok(heed_map_spearman(context, a, b, 3, &rho, &error));
  assert_true(fabs(rho - 0.0) < 1e-12);
  assert_ok(heed_map_spearman(context, b, same, 3, &rho, &error));
  assert_true(isnan(rho));
  assert_ok(heed_map_spearman(context, none, b, 3, &rho, &error));
  assert_true(isnan(rho));
  /* With their signs: 1 0 2 against 0 2 1, and against the same backwards. */
  assert_ok(heed_map_rank_correlation(context, a, b, 3, &rho, &error));
  assert_true(fabs(rho + 0.5) < 1e-12);
  assert_ok(heed_map_rank_correlation(context, b, same, 3, &rho, &error));
  assert_true(fabs(rho - 0.0) < 1e-12);
}

static void test_localise(void **state) {
  (void)state;
  const float map[] = {1.0f, 4.0f, -1.0f, 4.0f, 0.0f, 2.0f}, negative[6] = {-1.0f};
  const uint8_t mask[] = {0, 0, 1, 7, 1, 0}, empty[6] = {0};
  heed_localisation found;
  assert_ok(heed_map_localise(context, map, mask, 6, &found, &error));
  assert_int_equal(found.pointing, 1); /* of two largest numbers the second lies inside */
  assert_true(found.mass == 0.3 && fabs(found.rank - 1.0 / 3.0) < 1e-15);
  assert_ok(heed_map_localise(context, map, empty, 6, &found, &error));
  assert_int_equal(found.pointing, HEED_POINTING_NONE);
  assert_true(isnan(found.mass) && isnan(found.rank));
  assert_ok(heed_map_localise(context, negative, mask, 6, &found, &error));
  assert_true(isnan(found.mass) && found.pointing == 1);
}

/* How far a filled pixel is from the mean of its neighbours. */
static double miss(const float *plane, int height, int width, int y, int x) {
  double sum = 0.0, weights = 0.0;
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++) {
      const int row = y + i, column = x + j;
      if ((!i && !j) || row < 0 || column < 0 || row >= height || column >= width) continue;
      const double weight = i && j ? 1.0 / 12.0 : 1.0 / 6.0;
      sum += weight * (double)plane[row * width + column];
      weights += weight;
    }
  return fabs((double)plane[y * width + x] - sum / weights);
}

static void test_fill(void **state) {
  (void)state;
  enum { H = 19, W = 13, ALL = H * W };
  test_random random = {3};
  for (int share = 1; share < 5; share++) {
    float pixels[2 * ALL], before[2 * ALL];
    uint8_t missing[ALL];
    for (int i = 0; i < 2 * ALL; i++) before[i] = pixels[i] = test_random_normal(&random);
    /* corners, edges, whole rows and a hole */
    for (int i = 0; i < ALL; i++)
      missing[i] = i < W * share || i % 5 < share || (i / W > 8 && i % W > 5) || i == ALL - 1;
    missing[W * 5] = 0;
    assert_ok(heed_pixels_fill(context, pixels, 2, H, W, missing, &error));
    for (int i = 0; i < 2 * ALL; i++) {
      const int at = i % ALL;
      if (!missing[at])
        assert_true(pixels[i] == before[i]);
      else if (!(miss(pixels + i - at, H, W, at / W, at % W) < 1e-6))
        fail_msg("pixel %d is not the mean of those around it", i);
    }
    memset(missing, 1, sizeof missing);
    assert_fails(heed_pixels_fill(context, pixels, 2, H, W, missing, &error), HEED_INVALID_ARGUMENT,
                 "imputation: no pixel is known");
  }
}

/* All from one pixel: its value. And a picture without missing pixels stays. */
static void test_fill_ends(void **state) {
  (void)state;
  float pixels[6] = {9.0f, 9.0f, 9.0f, 9.0f, 2.5f, 9.0f};
  uint8_t missing[6] = {1, 1, 1, 1, 0, 1};
  assert_ok(heed_pixels_fill(context, pixels, 1, 2, 3, missing, &error));
  for (int i = 0; i < 6; i++) assert_true(fabsf(pixels[i] - 2.5f) < 1e-6f);
  memset(missing, 0, sizeof missing);
  pixels[0] = NAN;
  assert_ok(heed_pixels_fill(context, pixels, 1, 2, 3, missing, &error));
  assert_true(isnan(pixels[0]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),         cmocka_unit_test(test_spearman),
      cmocka_unit_test(test_spearman_ties), cmocka_unit_test(test_localise),
      cmocka_unit_test(test_fill),          cmocka_unit_test(test_fill_ends)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
