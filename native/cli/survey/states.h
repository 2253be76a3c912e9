/* What a survey gathers of layers: the Euclidean norms of their states, and which patches stand out
 * by them (heed_patches_outliers). */
#ifndef HEED_CLI_SURVEY_STATES_H
#define HEED_CLI_SURVEY_STATES_H

#include "heed/base.h"
#include "moments.h"
#include "shape.h"

#define SURVEY_NORM_BITS 20 /* norms are counted in units of 2^-20, below 524,288 */
enum { SURVEY_PATCH_NORM, SURVEY_FIRST_NORM, SURVEY_LARGEST_NORM, SURVEY_OUTLIERS, SURVEY_NORMS };
extern const char *const survey_norm_names[SURVEY_NORMS];

/* Sums over pictures. Arrays are [layer][...]; those of places take the pictures of the survey's
 * grid. */
typedef struct survey_states {
  int64_t pictures;        /* whose states were read; 0 of a model without taps of them */
  int64_t mapped;          /* of these, those of the survey's grid */
  survey_moments *moments; /* [..][SURVEY_NORMS] */
  int64_t *norms;          /* [..][tokens]: of each token, in units */
  int64_t *outliers;       /* [..][patches]: pictures in which the patch stands out */
} survey_states;

/* What one picture adds. */
typedef struct survey_state_numbers {
  bool present, mapped;
  double *moments;   /* [layers][SURVEY_NORMS]; FIRST_NORM: of a token that is no patch, or 0 */
  double *norms;     /* [layers][tokens] */
  uint8_t *outliers; /* [layers][patches] */
} survey_state_numbers;

/* Statuses: OUT_OF_MEMORY. Free also what failed. */
heed_status survey_states_create(const survey_shape *shape, survey_states *states,
                                 heed_error *error);
void survey_states_free(survey_states *states);
heed_status survey_state_numbers_create(const survey_shape *shape, survey_state_numbers *numbers,
                                        heed_error *error);
void survey_state_numbers_free(survey_state_numbers *numbers);
/* Whether all numbers can be counted; else *found is one that cannot. */
bool survey_states_count(const survey_shape *shape, const survey_state_numbers *numbers,
                         double *found);
/* Numbers that can be counted. */
void survey_states_add(const survey_shape *shape, survey_states *states,
                       const survey_state_numbers *numbers);
void survey_states_merge(const survey_shape *shape, survey_states *states,
                         const survey_states *more);
survey_summary survey_states_summary(const survey_states *states, uint32_t layer, int norm);
/* Means at [layer][token] and [layer][patch]: of norms, and the share of pictures. */
double survey_states_norm(const survey_states *states, size_t at);
double survey_states_share(const survey_states *states, size_t at);

#endif
