/* Student's t against its density summed by Simpson's rule, and Holm's correction against its
 * definition. */
#include "survey/student.h"

#include <math.h>

#include "support/test.h"

/* P(|T| >= t) = 1 - 2 (integral of the density from 0 to t). */
static double by_simpson(double t, double degrees) {
  enum { STEPS = 20000 };
  const double factor = exp(lgamma((degrees + 1.0) / 2.0) - lgamma(degrees / 2.0)) /
                        sqrt(degrees * 3.14159265358979323846);
  double sum = 0.0;
  for (int i = 0; i <= STEPS; i++) {
    const double x = t * i / STEPS,
                 density = factor * pow(1.0 + x * x / degrees, -(degrees + 1.0) / 2.0);
    sum += density * (i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0);
  }
  return 1.0 - 2.0 * sum * t / STEPS / 3.0;
}

static void test_student(void **state) {
  (void)state;
  static const double degrees[] = {1, 2, 3, 7, 29, 30, 199, 9999};
  static const double t[] = {0.0, 0.01, 0.5, 1.0, 2.0, 3.5, 6.0};
  for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
      const double expected = by_simpson(t[i], degrees[d]);
      assert_true(fabs(survey_student(t[i], degrees[d]) - expected) < 1e-9);
      assert_true(survey_student(-t[i], degrees[d]) == survey_student(t[i], degrees[d]));
    }
  /* tables: 5 % and 0.1 % */
  assert_true(fabs(survey_student(12.7062047364, 1.0) - 0.05) < 1e-11);
  assert_true(fabs(survey_student(2.2281388520, 10.0) - 0.05) < 1e-10);
  assert_true(fabs(survey_student(4.5868938587, 10.0) - 0.001) < 1e-10);
  assert_true(survey_student((double)INFINITY, 5.0) == 0.0);
  assert_true(survey_student((double)NAN, 5.0) == 1.0);
}

/* Rank k of n, from 0: the largest of (n - j) p_j over j <= k, at most 1. */
static void test_holm(void **state) {
  (void)state;
  double p[] = {0.04, 0.001, 0.03, 0.5, 0.001, 0.9};
  const double expected[] = {0.12, 0.006, 0.12, 1.0, 0.006, 1.0};
  size_t order[6];
  survey_holm(p, 6, order);
  for (size_t i = 0; i < 6; i++) assert_true(fabs(p[i] - expected[i]) < 1e-15);
  assert_int_equal(order[0], 1); /* equal ones by their place */
  assert_int_equal(order[1], 4);
  assert_int_equal(order[5], 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_student), cmocka_unit_test(test_holm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
