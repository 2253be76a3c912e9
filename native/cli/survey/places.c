/* Where heads look. See places.h. */
#include "places.h"

#include <math.h>
#include <stdlib.h>

const char *const survey_habit_names[SURVEY_HABITS] = {"twins", "positional", "by content", "broad",
                                                       "mixed"};

double survey_offset_pairs(const survey_shape *shape, int64_t row, int64_t column) {
  return (double)(shape->rows - llabs(row)) * (double)(shape->columns - llabs(column));
}

static double mean_of(const survey_sums *sums, int64_t sum) {
  return sums->mapped ? ldexp((double)sum / (double)sums->mapped, -SURVEY_WEIGHT_BITS) : 0.0;
}

/* The sum over the pairs of an offset, mean over pictures. */
static double sum_at(const survey_sums *sums, size_t head, size_t offset) {
  return mean_of(sums, sums->offsets[head * survey_offsets(&sums->shape) + offset]) *
         (double)survey_patches(&sums->shape);
}

static void offset_at(const survey_shape *shape, size_t offset, int64_t *row, int64_t *column) {
  const size_t width = 2 * (size_t)shape->columns - 1;
  *row = (int64_t)(offset / width) - (shape->rows - 1);
  *column = (int64_t)(offset % width) - (shape->columns - 1);
}

survey_place survey_place_of(const survey_sums *sums, size_t head) {
  const survey_shape *shape = &sums->shape;
  const double patches = (double)survey_patches(shape);
  double explained = 0.0, mass = 0.0;
  survey_place place = {0};
  for (size_t i = 0; i < survey_offsets(shape); i++) {
    int64_t row, column;
    offset_at(shape, i, &row, &column);
    const double pairs = survey_offset_pairs(shape, row, column), sum = sum_at(sums, head, i);
    mass += sum;
    explained += sum * sum / pairs;
    if (4.0 * pairs < patches || sum / pairs <= place.peak) continue;
    place.peak = sum / pairs;
    place.row = (int32_t)row;
    place.column = (int32_t)column;
  }
  const double squares = mean_of(sums, sums->squares[head]) * patches,
               even = mass * mass / (patches * patches);
  /* what rounding leaves of a head that looks everywhere alike explains nothing */
  if (squares - even > 1e-9 * even) place.share = (explained - even) / (squares - even);
  place.share = place.share < 0.0 ? 0.0 : place.share > 1.0 ? 1.0 : place.share;
  if (mass > 0.0) place.sharpness = squares / mass * (double)survey_tokens(shape);
  for (uint32_t t = 0; t < shape->prefix; t++) place.prefix += survey_prefix_mean(sums, head, t);
  place.twins = survey_sums_twins(sums, head).mean;
  return place;
}

void survey_mean_by_offset(const survey_sums *sums, size_t head, double *by_offset) {
  for (size_t i = 0; i < survey_offsets(&sums->shape); i++) {
    int64_t row, column;
    offset_at(&sums->shape, i, &row, &column);
    by_offset[i] = sum_at(sums, head, i) / survey_offset_pairs(&sums->shape, row, column);
  }
}

void survey_mean_first_row(const survey_sums *sums, size_t head, double *row) {
  const size_t tokens = survey_tokens(&sums->shape);
  for (size_t i = 0; i < tokens; i++) row[i] = mean_of(sums, sums->first_row[head * tokens + i]);
}

double survey_prefix_mean(const survey_sums *sums, size_t head, uint32_t t) {
  return mean_of(sums, sums->prefix[head * sums->shape.prefix + t]);
}

survey_habit survey_habit_of(const survey_place *place) {
  if (place->twins >= 8.0) return SURVEY_TWINS;
  if (place->sharpness < 4.0) return SURVEY_BROAD;
  if (place->share >= 0.2) return SURVEY_POSITIONAL;
  return place->share < 0.05 && place->sharpness >= 8.0 ? SURVEY_BY_CONTENT : SURVEY_MIXED;
}
