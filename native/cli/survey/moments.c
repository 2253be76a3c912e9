/* Exact moments. See moments.h. */
#include "moments.h"

#include <math.h>

typedef struct wide {
  uint64_t high, low;
} wide;

static wide wide_add(wide a, wide b) {
  const uint64_t low = a.low + b.low;
  return (wide){a.high + b.high + (low < a.low), low};
}

static wide wide_subtract(wide a, wide b) {
  return (wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static wide wide_product(uint64_t a, uint64_t b) {
  const uint64_t a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
  const uint64_t low = a0 * b0, one = a1 * b0 + (low >> 32), two = a0 * b1 + (one & UINT32_MAX);
  return (wide){a1 * b1 + (one >> 32) + (two >> 32), two << 32 | (low & UINT32_MAX)};
}

static wide wide_square(int64_t a) {
  const uint64_t size = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  return wide_product(size, size);
}

static double wide_to_double(wide a) { return ldexp((double)a.high, 64) + (double)a.low; }

static void add_squares(survey_moments *of, wide more) {
  const wide squares = wide_add((wide){of->squares_high, of->squares_low}, more);
  of->squares_high = squares.high;
  of->squares_low = squares.low;
}

bool survey_counts(double number, int bits) {
  return fabs(number) < ldexp((double)SURVEY_MOST_UNITS, -bits);
}

int64_t survey_units(double number, int bits) { return (int64_t)nearbyint(ldexp(number, bits)); }

void survey_moments_add(survey_moments *of, int64_t units) {
  of->sum += units;
  add_squares(of, wide_square(units));
  if (units < of->least) of->least = units;
  if (units > of->largest) of->largest = units;
}

void survey_moments_merge(survey_moments *of, const survey_moments *more) {
  of->sum += more->sum;
  add_squares(of, (wide){more->squares_high, more->squares_low});
  if (more->least < of->least) of->least = more->least;
  if (more->largest > of->largest) of->largest = more->largest;
}

/* n squares - sum^2, exactly: below 2^126, since n <= 2^24 and a number is below 2^39. */
static double spread_of(const survey_moments *of, int64_t count) {
  const uint64_t n = (uint64_t)count;
  wide products = wide_product(n, of->squares_low);
  products.high += n * of->squares_high;
  const wide square = wide_square(of->sum);
  return count > 1 ? sqrt(wide_to_double(wide_subtract(products, square)) / (double)count /
                          (double)(count - 1))
                   : 0.0;
}

survey_summary survey_moments_summary(const survey_moments *of, int64_t count, int bits) {
  if (count <= 0) return (survey_summary){0};
  return (survey_summary){.mean = ldexp((double)of->sum / (double)count, -bits),
                          .spread = ldexp(spread_of(of, count), -bits),
                          .least = ldexp((double)of->least, -bits),
                          .largest = ldexp((double)of->largest, -bits)};
}
