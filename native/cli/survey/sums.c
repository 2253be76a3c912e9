/* Exact sums. See sums.h. */
#include "sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- memory */

static void *array(size_t a, size_t b, size_t size) {
  if (!a || !b) return calloc(1, size);
  return a <= SIZE_MAX / b ? calloc(a * b, size) : NULL;
}

static size_t maps_size(const survey_shape *shape) {
  return survey_maps_count(shape) * survey_patches(shape);
}

heed_status survey_sums_create(const survey_shape *shape, survey_sums *sums, heed_error *error) {
  const size_t heads = survey_heads(shape);
  *sums = (survey_sums){.shape = *shape};
  sums->moments = array(heads, SURVEY_STATISTICS, sizeof *sums->moments);
  sums->bins = array(heads, (size_t)SURVEY_STATISTICS * SURVEY_BINS, sizeof *sums->bins);
  sums->first_row = array(heads, survey_tokens(shape), sizeof *sums->first_row);
  sums->offsets = array(heads, survey_offsets(shape), sizeof *sums->offsets);
  sums->prefix = array(heads, shape->prefix, sizeof *sums->prefix);
  sums->squares = array(heads, 1, sizeof *sums->squares);
  sums->maps = array(survey_maps_count(shape), survey_patches(shape), sizeof *sums->maps);
  sums->twins = array(heads, 1, sizeof *sums->twins);
  if (!sums->moments || !sums->bins || !sums->first_row || !sums->offsets || !sums->prefix ||
      !sums->squares || !sums->maps || !sums->twins)
    return heed_fail_memory(error, "survey", heads * survey_offsets(shape) * sizeof(int64_t));
  for (size_t i = 0; i < heads * SURVEY_STATISTICS; i++) sums->moments[i] = SURVEY_NO_MOMENTS;
  for (size_t i = 0; i < heads; i++) sums->twins[i] = SURVEY_NO_MOMENTS;
  return survey_states_create(shape, &sums->states, error);
}

void survey_sums_free(survey_sums *sums) {
  free(sums->moments);
  free(sums->bins);
  free(sums->first_row);
  free(sums->offsets);
  free(sums->prefix);
  free(sums->squares);
  free(sums->maps);
  free(sums->twins);
  survey_states_free(&sums->states);
  *sums = (survey_sums){0};
}

heed_status survey_numbers_create(const survey_shape *shape, survey_numbers *numbers,
                                  heed_error *error) {
  const size_t heads = survey_heads(shape);
  numbers->statistics = array(heads, SURVEY_STATISTICS, sizeof(double));
  numbers->first_row = array(heads, survey_tokens(shape), sizeof(double));
  numbers->offsets = array(heads, survey_offsets(shape), sizeof(double));
  numbers->prefix = array(heads, shape->prefix, sizeof(double));
  numbers->squares = array(heads, 1, sizeof(double));
  numbers->maps = array(survey_maps_count(shape), survey_patches(shape), sizeof(double));
  numbers->twin_weights = array(heads, 1, sizeof(double));
  numbers->embedding = array(shape->embedding, 1, sizeof(float));
  return numbers->statistics && numbers->first_row && numbers->offsets && numbers->prefix &&
                 numbers->squares && numbers->maps && numbers->twin_weights && numbers->embedding
             ? survey_state_numbers_create(shape, &numbers->states, error)
             : heed_fail_memory(error, "survey", heads * survey_offsets(shape) * sizeof(double));
}

void survey_numbers_free(survey_numbers *numbers) {
  free(numbers->statistics);
  free(numbers->first_row);
  free(numbers->offsets);
  free(numbers->prefix);
  free(numbers->squares);
  free(numbers->maps);
  free(numbers->twin_weights);
  free(numbers->embedding);
  survey_state_numbers_free(&numbers->states);
  *numbers = (survey_numbers){0};
}

/* ---------------------------------------------------------------------------------------- adding
 */

/* The nearest multiple of 2^-bits, ties to even, of a number below SURVEY_MOST_UNITS of them:
 * in 1.5 2^52 plus a small number the last bits are its integer. */
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
  const double most = ldexp((double)SURVEY_MOST_UNITS, -bits);
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
                    &found) &&
          all_count(numbers->prefix, heads * sums->shape.prefix, SURVEY_WEIGHT_BITS, &found) &&
          all_count(numbers->squares, heads, SURVEY_WEIGHT_BITS, &found) &&
          all_count(numbers->maps, maps_size(&sums->shape), SURVEY_MAP_BITS, &found);
  if (numbers->twins)
    fit = fit && all_count(numbers->twin_weights, heads, SURVEY_TWIN_BITS, &found);
  fit = fit && survey_states_count(&sums->shape, &numbers->states, &found);
  if (!fit)
    return heed_fail(error, HEED_INVALID_FILE,
                     "a statistic of attention is out of range (found %g)", found);
  return sums->pictures < SURVEY_MOST_PICTURES
             ? HEED_OK
             : heed_fail(error, HEED_INVALID_FILE,
                         "images: too many in one survey (expected at most %lld)",
                         (long long)SURVEY_MOST_PICTURES);
}

static void add_units(int64_t *sums, const double *numbers, size_t count, int bits) {
  const double scale = ldexp(1.0, bits);
  for (size_t i = 0; i < count; i++) sums[i] += units(numbers[i], scale);
}

heed_status survey_sums_add(survey_sums *sums, const survey_numbers *numbers, heed_error *error) {
  const survey_shape *shape = &sums->shape;
  const size_t heads = survey_heads(shape);
  const heed_status status = check(sums, numbers, error);
  if (status != HEED_OK) return status;
  for (size_t i = 0; i < heads * SURVEY_STATISTICS; i++) {
    const size_t statistic = i % SURVEY_STATISTICS;
    survey_moments_add(&sums->moments[i],
                       survey_units(numbers->statistics[i], survey_statistics[statistic].bits));
    sums->bins[i * SURVEY_BINS + bin_of(shape, statistic, numbers->statistics[i])]++;
  }
  sums->pictures++;
  sums->twin_pictures += numbers->twins;
  for (size_t i = 0; numbers->twins && i < heads; i++)
    survey_moments_add(&sums->twins[i], survey_units(numbers->twin_weights[i], SURVEY_TWIN_BITS));
  survey_states_add(shape, &sums->states, &numbers->states);
  if (!numbers->mapped) return HEED_OK;
  sums->mapped++;
  add_units(sums->first_row, numbers->first_row, heads * survey_tokens(shape), SURVEY_WEIGHT_BITS);
  add_units(sums->offsets, numbers->offsets, heads * survey_offsets(shape), SURVEY_WEIGHT_BITS);
  add_units(sums->prefix, numbers->prefix, heads * shape->prefix, SURVEY_WEIGHT_BITS);
  add_units(sums->squares, numbers->squares, heads, SURVEY_WEIGHT_BITS);
  add_units(sums->maps, numbers->maps, maps_size(shape), SURVEY_MAP_BITS);
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
  for (size_t i = 0; i < heads * SURVEY_STATISTICS; i++)
    survey_moments_merge(&sums->moments[i], &other->moments[i]);
  for (size_t i = 0; i < heads; i++) survey_moments_merge(&sums->twins[i], &other->twins[i]);
  add_counts(sums->bins, other->bins, heads * SURVEY_STATISTICS * SURVEY_BINS);
  add_counts(sums->first_row, other->first_row, heads * survey_tokens(&sums->shape));
  add_counts(sums->offsets, other->offsets, heads * survey_offsets(&sums->shape));
  add_counts(sums->prefix, other->prefix, heads * sums->shape.prefix);
  add_counts(sums->squares, other->squares, heads);
  add_counts(sums->maps, other->maps, maps_size(&sums->shape));
  survey_states_merge(&sums->shape, &sums->states, &other->states);
  sums->pictures += other->pictures;
  sums->twin_pictures += other->twin_pictures;
  sums->mapped += other->mapped;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- results
 */

double survey_sums_map(const survey_sums *sums, size_t map, size_t patch) {
  const int64_t sum = sums->maps[map * survey_patches(&sums->shape) + patch];
  return sums->mapped ? ldexp((double)sum / (double)sums->mapped, -SURVEY_MAP_BITS) : 0.0;
}

survey_summary survey_sums_summary(const survey_sums *sums, size_t head, size_t statistic) {
  return survey_moments_summary(&sums->moments[head * SURVEY_STATISTICS + statistic],
                                sums->pictures, survey_statistics[statistic].bits);
}

survey_summary survey_sums_twins(const survey_sums *sums, size_t head) {
  return survey_moments_summary(&sums->twins[head], sums->twin_pictures, SURVEY_TWIN_BITS);
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
