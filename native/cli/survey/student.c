/* Tests of significance. See student.h. */
#include "student.h"

#include <math.h>
#include <stdlib.h>

#define MOST_TERMS 500
#define TINY 1e-300

static double away_from_zero(double value) { return fabs(value) < TINY ? TINY : value; }

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method. */
static double fraction(double x, double a, double b) {
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), value = d;
  for (int m = 1; m <= MOST_TERMS; m++) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                 odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    value *= d * c;
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    value *= d * c;
    if (fabs(d * c - 1.0) < 1e-15) break;
  }
  return value;
}

/* I_x(a, b); it converges fast below the mean of the distribution, and mirrors above. */
static double beta(double x, double a, double b) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * fraction(x, a, b) / a
                                       : 1.0 - front * fraction(1.0 - x, b, a) / b;
}

double survey_student(double t, double degrees) {
  if (isnan(t)) return 1.0;
  return isinf(t) ? 0.0 : beta(degrees / (degrees + t * t), degrees / 2.0, 0.5);
}

static const double *sorted_by;

static int by_p(const void *a, const void *b) {
  const size_t i = *(const size_t *)a, j = *(const size_t *)b;
  return sorted_by[i] != sorted_by[j]
             ? (sorted_by[i] > sorted_by[j]) - (sorted_by[i] < sorted_by[j])
             : (i > j) - (i < j);
}

void survey_holm(double *p, size_t count, size_t *order) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) order[i] = i;
  sorted_by = p;
  qsort(order, count, sizeof *order, by_p);
  for (size_t rank = 0; rank < count; rank++) {
    const double adjusted = fmin(1.0, (double)(count - rank) * p[order[rank]]);
    largest = fmax(largest, adjusted);
    p[order[rank]] = largest;
  }
}
