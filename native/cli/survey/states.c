/* Norms of states. See states.h. */
#include "states.h"

#include <math.h>
#include <stdlib.h>

const char *const survey_norm_names[SURVEY_NORMS] = {"patch_norm", "first_norm", "largest_norm",
                                                     "outliers"};

heed_status survey_states_create(const survey_shape *shape, survey_states *states,
                                 heed_error *error) {
  const size_t layers = shape->layers, norms = layers * SURVEY_NORMS;
  *states =
      (survey_states){.moments = calloc(norms + 1, sizeof *states->moments),
                      .norms = calloc(layers * survey_tokens(shape) + 1, sizeof(int64_t)),
                      .outliers = calloc(layers * survey_patches(shape) + 1, sizeof(int64_t))};
  if (!states->moments || !states->norms || !states->outliers)
    return heed_fail_memory(error, "survey", layers * survey_tokens(shape) * sizeof(int64_t));
  for (size_t i = 0; i < norms; i++) states->moments[i] = SURVEY_NO_MOMENTS;
  return HEED_OK;
}

void survey_states_free(survey_states *states) {
  free(states->moments);
  free(states->norms);
  free(states->outliers);
  *states = (survey_states){0};
}

heed_status survey_state_numbers_create(const survey_shape *shape, survey_state_numbers *numbers,
                                        heed_error *error) {
  const size_t layers = shape->layers;
  *numbers =
      (survey_state_numbers){.moments = calloc(layers * SURVEY_NORMS + 1, sizeof(double)),
                             .norms = calloc(layers * survey_tokens(shape) + 1, sizeof(double)),
                             .outliers = calloc(layers * survey_patches(shape) + 1, 1)};
  return numbers->moments && numbers->norms && numbers->outliers
             ? HEED_OK
             : heed_fail_memory(error, "survey", layers * survey_tokens(shape) * sizeof(double));
}

void survey_state_numbers_free(survey_state_numbers *numbers) {
  free(numbers->moments);
  free(numbers->norms);
  free(numbers->outliers);
  *numbers = (survey_state_numbers){0};
}

static bool all_count(const double *numbers, size_t count, double *found) {
  for (size_t i = 0; i < count; i++) {
    *found = numbers[i];
    if (!survey_counts(numbers[i], SURVEY_NORM_BITS)) return false;
  }
  return true;
}

bool survey_states_count(const survey_shape *shape, const survey_state_numbers *numbers,
                         double *found) {
  return !numbers->present ||
         (all_count(numbers->moments, (size_t)shape->layers * SURVEY_NORMS, found) &&
          (!numbers->mapped ||
           all_count(numbers->norms, shape->layers * survey_tokens(shape), found)));
}

void survey_states_add(const survey_shape *shape, survey_states *states,
                       const survey_state_numbers *numbers) {
  if (!numbers->present) return;
  states->pictures++;
  for (size_t i = 0; i < (size_t)shape->layers * SURVEY_NORMS; i++)
    survey_moments_add(&states->moments[i], survey_units(numbers->moments[i], SURVEY_NORM_BITS));
  if (!numbers->mapped) return;
  states->mapped++;
  for (size_t i = 0; i < shape->layers * survey_tokens(shape); i++)
    states->norms[i] += survey_units(numbers->norms[i], SURVEY_NORM_BITS);
  for (size_t i = 0; i < shape->layers * survey_patches(shape); i++)
    states->outliers[i] += numbers->outliers[i];
}

void survey_states_merge(const survey_shape *shape, survey_states *states,
                         const survey_states *more) {
  states->pictures += more->pictures;
  states->mapped += more->mapped;
  for (size_t i = 0; i < (size_t)shape->layers * SURVEY_NORMS; i++)
    survey_moments_merge(&states->moments[i], &more->moments[i]);
  for (size_t i = 0; i < shape->layers * survey_tokens(shape); i++)
    states->norms[i] += more->norms[i];
  for (size_t i = 0; i < shape->layers * survey_patches(shape); i++)
    states->outliers[i] += more->outliers[i];
}

survey_summary survey_states_summary(const survey_states *states, uint32_t layer, int norm) {
  return survey_moments_summary(&states->moments[(size_t)layer * SURVEY_NORMS + (size_t)norm],
                                states->pictures, SURVEY_NORM_BITS);
}

double survey_states_norm(const survey_states *states, size_t at) {
  return ldexp((double)states->norms[at] / (double)states->mapped, -SURVEY_NORM_BITS);
}

double survey_states_share(const survey_states *states, size_t at) {
  return (double)states->outliers[at] / (double)states->mapped;
}
