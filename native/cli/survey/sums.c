/* Exact sums. See sums.h. */
#include "sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNITS (INT64_C(1) << 39)

/* -------------------------------------------------------------------------------------- memory */

static void *array(size_t a, size_t b, size_t size) {
  if (!a || !b) return calloc(1, size);
  return a <= SIZE_MAX / b ? calloc(a * b, size) : NULL;
}

heed_status survey_sums_create(const survey_shape *shape, survey_sums *sums, heed_error *error) {
  const size_t heads = survey_heads(shape);
  *sums = (survey_sums){.shape = *shape};
  sums->moments = array(heads, SURVEY_STATISTICS, sizeof *sums->moments);
  sums->bins = array(heads, (size_t)SURVEY_STATISTICS * SURVEY_BINS, sizeof *sums->bins);
  sums->first_row = array(heads, survey_tokens(shape), sizeof *sums->first_row);
  sums->offsets = array(heads, survey_offsets(shape), sizeof *sums->offsets);
  if (!sums->moments || !sums->bins || !sums->first_row || !sums->offsets)
    return heed_fail_memory(error, "survey", heads * survey_offsets(shape) * sizeof(int64_t));
  for (size_t i = 0; i < heads * SURVEY_STATISTICS; i++)
    sums->moments[i] = (survey_moments){.least = INT64_MAX, .largest = INT64_MIN};
  return HEED_OK;
}

void survey_sums_free(survey_sums *sums) {
  free(sums->moments);
  free(sums->bins);
  free(sums->first_row);
  free(sums->offsets);
  *sums = (survey_sums){0};
}

heed_status survey_numbers_create(const survey_shape *shape, survey_numbers *numbers,
                                  heed_error *error) {
  const size_t heads = survey_heads(shape);
  numbers->statistics = array(heads, SURVEY_STATISTICS, sizeof(double));
  numbers->first_row = array(heads, survey_tokens(shape), sizeof(double));
  numbers->offsets = array(heads, survey_offsets(shape), sizeof(double));
  return numbers->statistics && numbers->first_row && numbers->offsets
             ? HEED_OK
             : heed_fail_memory(error, "survey", heads * survey_offsets(shape) * sizeof(double));
}

void survey_numbers_free(survey_numbers *numbers) {
  free(numbers->statistics);
  free(numbers->first_row);
  free(numbers->offsets);
  *numbers = (survey_numbers){0};
}

/* ---------------------------------------------------------------------------------------- adding
 */

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

static double wide_to_double(wide a) { return ldexp((double)a.high, 64) + (double)a.low; }

/* The nearest multiple of 2^-bits, ties to even, of a number below MOST_UNITS of them: in 1.5 2^52
 * plus a small number the last bits are its integer. */
static int64_t units(double number, double scale) {
  const double magic = 0x1.8p52, shifted = number * scale + magic;
  int64_t bits, zero;
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&zero, &magic, sizeof zero);
  return bits - zero;
}

/* The largest number that a bin has. */
static double bin_end(const survey_shape *shape, size_t statistic) {
  const double down = (double)(shape->rows - 1) * shape->patch,
               across = (double)(shape->columns - 1) * shape->patch;
  switch (survey_statistics[statistic].unit) {
    case SURVEY_NATS: return log((double)survey_tokens(shape)); /* nats */
    case SURVEY_PIXELS: return sqrt(down * down + across * across);
    case SURVEY_SHARE: break;
  }
  return 1.0;
}

double survey_bin_width(const survey_shape *shape, size_t statistic) {
  return bin_end(shape, statistic) / SURVEY_BINS;
}

static size_t bin_of(const survey_shape *shape, size_t statistic, double number) {
  const double end = bin_end(shape, statistic), at = end > 0.0 ? number / end * SURVEY_BINS : 0.0;
  return at < 0.0 ? 0 : at < SURVEY_BINS - 1 ? (size_t)at : SURVEY_BINS - 1;
}

/* The loop without an exit is one that compilers make wide. */
static bool all_count(const double *numbers, size_t count, int bits, double *found) {
  const double most = ldexp((double)MOST_UNITS, -bits);
  unsigned outside = 0;
  for (size_t i = 0; i < count; i++) outside |= !(fabs(numbers[i]) < most);
  for (size_t i = 0; outside && i < count; i++)
    if (!(fabs(*found = numbers[i]) < most)) break;
  return !outside;
}

static heed_status check(const survey_sums *sums, const survey_numbers *numbers,
                         heed_error *error) {
  const size_t heads = survey_heads(&sums->shape);
  double found = 0.0;
  bool fit = true;
  for (size_t i = 0; fit && i < heads * SURVEY_STATISTICS; i++)
    fit = all_count(&numbers->statistics[i], 1, survey_statistics[i % SURVEY_STATISTICS].bits,
                    &found);
  if (numbers->mapped)
    fit = fit &&
          all_count(numbers->first_row, heads * survey_tokens(&sums->shape), SURVEY_WEIGHT_BITS,
                    &found) &&
          all_count(numbers->offsets, heads * survey_offsets(&sums->shape), SURVEY_WEIGHT_BITS,
                    &found);
  if (!fit)
    return heed_fail(error, HEED_INVALID_FILE,
                     "a statistic of attention is out of range (found %g)", found);
  return sums->pictures < SURVEY_MOST_PICTURES
             ? HEED_OK
             : heed_fail(error, HEED_INVALID_FILE,
                         "images: too many in one survey (expected at most %lld)",
                         (long long)SURVEY_MOST_PICTURES);
}

static wide wide_square(int64_t a) {
  const uint64_t size = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  return wide_product(size, size);
}

static void add_moments(survey_moments *of, int64_t number) {
  const wide squares = wide_add((wide){of->squares_high, of->squares_low}, wide_square(number));
  of->sum += number;
  of->squares_high = squares.high;
  of->squares_low = squares.low;
  if (number < of->least) of->least = number;
  if (number > of->largest) of->largest = number;
}

static void add_units(int64_t *sums, const double *numbers, size_t count) {
  const double scale = ldexp(1.0, SURVEY_WEIGHT_BITS);
  for (size_t i = 0; i < count; i++) sums[i] += units(numbers[i], scale);
}

heed_status survey_sums_add(survey_sums *sums, const survey_numbers *numbers, heed_error *error) {
  const survey_shape *shape = &sums->shape;
  const size_t heads = survey_heads(shape);
  const heed_status status = check(sums, numbers, error);
  if (status != HEED_OK) return status;
  for (size_t i = 0; i < heads * SURVEY_STATISTICS; i++) {
    const size_t statistic = i % SURVEY_STATISTICS;
    add_moments(&sums->moments[i],
                units(numbers->statistics[i], ldexp(1.0, survey_statistics[statistic].bits)));
    sums->bins[i * SURVEY_BINS + bin_of(shape, statistic, numbers->statistics[i])]++;
  }
  sums->pictures++;
  if (!numbers->mapped) return HEED_OK;
  sums->mapped++;
  add_units(sums->first_row, numbers->first_row, heads * survey_tokens(shape));
  add_units(sums->offsets, numbers->offsets, heads * survey_offsets(shape));
  return HEED_OK;
}

static void add_counts(int64_t *to, const int64_t *from, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

heed_status survey_sums_merge(survey_sums *sums, const survey_sums *other, heed_error *error) {
  const size_t heads = survey_heads(&sums->shape);
  if (sums->pictures + other->pictures > SURVEY_MOST_PICTURES)
    return heed_fail(error, HEED_INVALID_FILE,
                     "images: too many in one survey (found %lld, expected at most %lld)",
                     (long long)(sums->pictures + other->pictures),
                     (long long)SURVEY_MOST_PICTURES);
  for (size_t i = 0; i < heads * SURVEY_STATISTICS; i++) {
    survey_moments *of = &sums->moments[i];
    const survey_moments *more = &other->moments[i];
    const wide squares = wide_add((wide){of->squares_high, of->squares_low},
                                  (wide){more->squares_high, more->squares_low});
    of->sum += more->sum;
    of->squares_high = squares.high;
    of->squares_low = squares.low;
    if (more->least < of->least) of->least = more->least;
    if (more->largest > of->largest) of->largest = more->largest;
  }
  add_counts(sums->bins, other->bins, heads * SURVEY_STATISTICS * SURVEY_BINS);
  add_counts(sums->first_row, other->first_row, heads * survey_tokens(&sums->shape));
  add_counts(sums->offsets, other->offsets, heads * survey_offsets(&sums->shape));
  sums->pictures += other->pictures;
  sums->mapped += other->mapped;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- results
 */

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

survey_summary survey_sums_summary(const survey_sums *sums, size_t head, size_t statistic) {
  const survey_moments *of = &sums->moments[head * SURVEY_STATISTICS + statistic];
  const int bits = survey_statistics[statistic].bits;
  if (!sums->pictures) return (survey_summary){0};
  return (survey_summary){
      .mean = ldexp((double)of->sum / (double)sums->pictures, -bits),
      .spread = ldexp(spread_of(of, sums->pictures), -bits),
      .least = ldexp((double)of->least, -bits),
      .largest = ldexp((double)of->largest, -bits),
  };
}

double survey_sums_quantile(const survey_sums *sums, size_t head, size_t statistic, double q) {
  const int64_t *bins = sums->bins + (head * SURVEY_STATISTICS + statistic) * SURVEY_BINS;
  const survey_summary range = survey_sums_summary(sums, head, statistic);
  const int64_t rank = (int64_t)ceil(q * (double)sums->pictures), wanted = rank > 1 ? rank : 1;
  int64_t seen = 0;
  size_t bin = 0;
  while (bin < SURVEY_BINS - 1 && (seen += bins[bin]) < wanted) bin++;
  const double width = survey_bin_width(&sums->shape, statistic),
               middle = ((double)bin + 0.5) * width;
  /* the last bin has all that lies beyond it, which images of larger grids may bring */
  if (bin == SURVEY_BINS - 1 && range.largest > (SURVEY_BINS + 1) * width) return (double)NAN;
  return middle < range.least ? range.least : middle > range.largest ? range.largest : middle;
}
