/* Sums of a survey beside the definitions in long double, whatever the order of the pictures. */
#include "survey/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define PICTURES 100000

static heed_error error;
static const survey_shape shape = {
    .layers = 1, .heads = 1, .prefix = 1, .rows = 3, .columns = 4, .patch = 16};

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A number that each statistic may have. */
static double draw(test_random *random, size_t statistic) {
  const double end = survey_bin_width(&shape, statistic) * SURVEY_BINS;
  return end * (double)test_random_uniform(random, 0.0f, 1.0f);
}

static void fill(survey_numbers *numbers, test_random *random) {
  numbers->mapped = true;
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) numbers->statistics[s] = draw(random, s);
  for (size_t i = 0; i < survey_tokens(&shape); i++)
    numbers->first_row[i] = (double)test_random_uniform(random, 0.0f, 1.0f);
  for (size_t i = 0; i < survey_offsets(&shape); i++)
    numbers->offsets[i] = (double)test_random_uniform(random, 0.0f, 1.0f);
  numbers->prefix[0] = (double)test_random_uniform(random, 0.0f, 1.0f);
  numbers->squares[0] = (double)test_random_uniform(random, 0.0f, 1.0f);
  numbers->twins = test_random_uniform(random, 0.0f, 1.0f) < 0.5f;
  numbers->twin_weights[0] = (double)test_random_uniform(random, 0.0f, 13.0f);
  survey_state_numbers *states = &numbers->states;
  states->present = states->mapped = true;
  for (size_t i = 0; i < SURVEY_NORMS; i++)
    states->moments[i] = (double)test_random_uniform(random, 0.0f, 1000.0f);
  for (size_t i = 0; i < survey_tokens(&shape); i++)
    states->norms[i] = (double)test_random_uniform(random, 0.0f, 1000.0f);
  for (size_t i = 0; i < survey_patches(&shape); i++)
    states->outliers[i] = test_random_uniform(random, 0.0f, 1.0f) < 0.5f;
}

static void expect_same(const survey_sums *a, const survey_sums *b) {
  assert_int_equal(a->pictures, b->pictures);
  assert_int_equal(a->mapped, b->mapped);
  assert_memory_equal(a->moments, b->moments, SURVEY_STATISTICS * sizeof *a->moments);
  assert_memory_equal(a->bins, b->bins, SURVEY_STATISTICS * SURVEY_BINS * sizeof *a->bins);
  assert_memory_equal(a->first_row, b->first_row, survey_tokens(&shape) * sizeof(int64_t));
  assert_memory_equal(a->offsets, b->offsets, survey_offsets(&shape) * sizeof(int64_t));
  assert_memory_equal(a->prefix, b->prefix, sizeof(int64_t));
  assert_memory_equal(a->squares, b->squares, sizeof(int64_t));
  assert_int_equal(a->twin_pictures, b->twin_pictures);
  assert_memory_equal(a->twins, b->twins, sizeof *a->twins);
  assert_int_equal(a->states.pictures, b->states.pictures);
  assert_int_equal(a->states.mapped, b->states.mapped);
  assert_memory_equal(a->states.moments, b->states.moments,
                      SURVEY_NORMS * sizeof *a->states.moments);
  assert_memory_equal(a->states.norms, b->states.norms, survey_tokens(&shape) * sizeof(int64_t));
  assert_memory_equal(a->states.outliers, b->states.outliers,
                      survey_patches(&shape) * sizeof(int64_t));
}

static void test_any_order(void **state) {
  (void)state;
  enum { COUNT = 60 };
  survey_numbers numbers[COUNT];
  survey_sums forth, back, parts[3], merged;
  test_random random = {7};
  assert_ok(survey_sums_create(&shape, &forth, &error));
  assert_ok(survey_sums_create(&shape, &back, &error));
  assert_ok(survey_sums_create(&shape, &merged, &error));
  for (int i = 0; i < 3; i++) assert_ok(survey_sums_create(&shape, &parts[i], &error));
  for (int i = 0; i < COUNT; i++) {
    assert_ok(survey_numbers_create(&shape, &numbers[i], &error));
    fill(&numbers[i], &random);
    assert_ok(survey_sums_add(&forth, &numbers[i], &error));
    assert_ok(survey_sums_add(&parts[i % 3], &numbers[i], &error));
  }
  for (int i = COUNT - 1; i >= 0; i--) assert_ok(survey_sums_add(&back, &numbers[i], &error));
  for (int i = 2; i >= 0; i--) assert_ok(survey_sums_merge(&merged, &parts[i], &error));
  expect_same(&forth, &back);
  expect_same(&forth, &merged);
  for (int i = 0; i < COUNT; i++) survey_numbers_free(&numbers[i]);
  for (int i = 0; i < 3; i++) survey_sums_free(&parts[i]);
  survey_sums_free(&forth);
  survey_sums_free(&back);
  survey_sums_free(&merged);
}

/* Against sorted numbers and sums in long double. */
static void test_summary(void **state) {
  (void)state;
  survey_sums sums;
  survey_numbers numbers;
  test_random random = {11};
  double *seen = calloc(PICTURES, sizeof *seen * SURVEY_STATISTICS);
  assert_non_null(seen);
  assert_ok(survey_sums_create(&shape, &sums, &error));
  assert_ok(survey_numbers_create(&shape, &numbers, &error));
  for (size_t i = 0; i < PICTURES; i++) {
    fill(&numbers, &random);
    for (size_t s = 0; s < SURVEY_STATISTICS; s++) seen[s * PICTURES + i] = numbers.statistics[s];
    assert_ok(survey_sums_add(&sums, &numbers, &error));
  }
  for (size_t s = 0; s < SURVEY_STATISTICS; s++) {
    double *of = seen + s * PICTURES;
    long double mean = 0.0L, squares = 0.0L;
    for (size_t i = 0; i < PICTURES; i++) mean += (long double)of[i] / PICTURES;
    for (size_t i = 0; i < PICTURES; i++)
      squares += ((long double)of[i] - mean) * ((long double)of[i] - mean);
    qsort(of, PICTURES, sizeof *of, by_size);
    const survey_summary found = survey_sums_summary(&sums, 0, s);
    const double spread = (double)sqrtl(squares / (PICTURES - 1));
    assert_true(fabs(found.mean - (double)mean) <= 1e-6 * (double)mean);
    assert_true(fabs(found.spread - spread) <= 1e-6 * spread);
    assert_true(fabs(found.least - of[0]) <= 1e-5);
    assert_true(fabs(found.largest - of[PICTURES - 1]) <= 1e-5);
    for (int percent = 1; percent < 100; percent += 7) {
      const double q = percent / 100.0, exact = of[(size_t)ceil(q * PICTURES) - 1];
      assert_true(fabs(survey_sums_quantile(&sums, 0, s, q) - exact) <=
                  survey_bin_width(&shape, s));
    }
  }
  survey_numbers_free(&numbers);
  survey_sums_free(&sums);
  free(seen);
}

/* A spread that is nothing beside the mean: sums of squares in double would lose it. */
static void test_small_spread(void **state) {
  (void)state;
  survey_sums sums;
  survey_numbers numbers;
  test_random random = {3};
  assert_ok(survey_sums_create(&shape, &sums, &error));
  assert_ok(survey_numbers_create(&shape, &numbers, &error));
  fill(&numbers, &random);
  for (int i = 0; i < 1000; i++) {
    numbers.statistics[2] = 16384.0 + (i % 2 ? 0.25 : -0.25);
    numbers.statistics[0] = i % 2 ? -0x1p-30 : 0x1p-30; /* as rounding may leave it */
    assert_ok(survey_sums_add(&sums, &numbers, &error));
  }
  assert_true(fabs(survey_sums_summary(&sums, 0, 2).spread - 0.25 * sqrt(1000.0 / 999.0)) < 1e-12);
  assert_true(survey_sums_summary(&sums, 0, 2).mean == 16384.0);
  assert_true(survey_sums_summary(&sums, 0, 0).mean == 0.0);
  assert_true(survey_sums_summary(&sums, 0, 0).least == -0x1p-30);
  survey_numbers_free(&numbers);
  survey_sums_free(&sums);
}

/* Weights from twin to twin are those of scenes alone. */
static void test_twins(void **state) {
  (void)state;
  survey_sums sums;
  survey_numbers numbers;
  test_random random = {17};
  assert_ok(survey_sums_create(&shape, &sums, &error));
  assert_ok(survey_numbers_create(&shape, &numbers, &error));
  assert_true(survey_sums_twins(&sums, 0).mean == 0.0);
  for (int i = 0; i < 6; i++) {
    fill(&numbers, &random);
    numbers.twins = i % 2;
    numbers.twin_weights[0] = i % 2 ? (double)i : (double)NAN;
    assert_ok(survey_sums_add(&sums, &numbers, &error));
  }
  const survey_summary found = survey_sums_twins(&sums, 0);
  assert_int_equal(sums.twin_pictures, 3);
  assert_true(found.mean == 3.0 && found.spread == 2.0);
  assert_true(found.least == 1.0 && found.largest == 5.0);
  survey_numbers_free(&numbers);
  survey_sums_free(&sums);
}

/* A number beyond the last bin counts, and a quantile that lies there is not made up. */
static void test_beyond_the_bins(void **state) {
  (void)state;
  survey_sums sums;
  survey_numbers numbers;
  test_random random = {13};
  assert_ok(survey_sums_create(&shape, &sums, &error));
  assert_ok(survey_numbers_create(&shape, &numbers, &error));
  for (int i = 0; i < 4; i++) {
    fill(&numbers, &random);
    numbers.statistics[2] = i ? 10.0 : 3.0 * SURVEY_BINS * survey_bin_width(&shape, 2);
    assert_ok(survey_sums_add(&sums, &numbers, &error));
  }
  assert_true(fabs(survey_sums_quantile(&sums, 0, 2, 0.5) - 10.0) <= survey_bin_width(&shape, 2));
  assert_true(isnan(survey_sums_quantile(&sums, 0, 2, 0.95)));
  survey_numbers_free(&numbers);
  survey_sums_free(&sums);
}

/* What is refused leaves the sums as they were. */
static void test_refused(void **state) {
  (void)state;
  survey_sums sums, before;
  survey_numbers numbers;
  test_random random = {5};
  assert_ok(survey_sums_create(&shape, &sums, &error));
  assert_ok(survey_sums_create(&shape, &before, &error));
  assert_ok(survey_numbers_create(&shape, &numbers, &error));
  fill(&numbers, &random);
  assert_ok(survey_sums_add(&sums, &numbers, &error));
  assert_ok(survey_sums_add(&before, &numbers, &error));
  static const double bad[] = {32.0, -32.0, (double)INFINITY, (double)NAN};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const double kept = numbers.statistics[1];
    numbers.statistics[1] = bad[i];
    assert_int_equal(survey_sums_add(&sums, &numbers, &error), HEED_INVALID_FILE);
    numbers.statistics[1] = kept;
  }
  numbers.twins = true;
  numbers.twin_weights[0] = (double)NAN;
  assert_int_equal(survey_sums_add(&sums, &numbers, &error), HEED_INVALID_FILE);
  numbers.twin_weights[0] = 1.0;
  numbers.offsets[survey_offsets(&shape) - 1] = 2.0;
  assert_int_equal(survey_sums_add(&sums, &numbers, &error), HEED_INVALID_FILE);
  expect_same(&sums, &before);
  before.pictures = SURVEY_MOST_PICTURES;
  assert_int_equal(survey_sums_merge(&sums, &before, &error), HEED_INVALID_FILE);
  assert_non_null(strstr(error.message, "too many in one survey"));
  numbers.offsets[survey_offsets(&shape) - 1] = 1.0;
  assert_int_equal(survey_sums_add(&before, &numbers, &error), HEED_INVALID_FILE);
  survey_numbers_free(&numbers);
  survey_sums_free(&before);
  survey_sums_free(&sums);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_order),    cmocka_unit_test(test_summary),
      cmocka_unit_test(test_small_spread), cmocka_unit_test(test_beyond_the_bins),
      cmocka_unit_test(test_refused),      cmocka_unit_test(test_twins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
