/* Sums over pictures as exact integers: the same whatever the order of the pictures, the threads,
 * or the parts that a survey was split into. A number is rounded once, to a multiple of a power of
 * two, and counted in such units. */
#ifndef HEED_CLI_SURVEY_SUMS_H
#define HEED_CLI_SURVEY_SUMS_H

#include <stdbool.h>

#include "heed/base.h"
#include "moments.h"
#include "shape.h"
#include "states.h"
#include "statistics.h"

#define SURVEY_BINS 512
#define SURVEY_WEIGHT_BITS 38 /* mean maps of weights are counted in units of 2^-38 */
#define SURVEY_MAP_BITS 24    /* and those of methods in units of 2^-24, below 32,768 */
#define SURVEY_TWIN_BITS 24   /* weights from twin to twin, in x uniform, likewise */
#define SURVEY_TWIN_WEIGHT "twin_weight"

/* Arrays are [layer][head][...]. */
typedef struct survey_sums {
  survey_shape shape;
  int64_t pictures, mapped; /* that were read; whose grid is that of `shape` */
  survey_moments *moments;  /* [..][SURVEY_STATISTICS] */
  int64_t *bins;            /* [..][SURVEY_STATISTICS][SURVEY_BINS]: pictures */
  int64_t *first_row;       /* [..][tokens]: weights of the first token, where it is no patch */
  int64_t *offsets;         /* [..][2 rows - 1][2 columns - 1]: of a patch on one that lies so
                             * many rows and columns further, mean over patch queries */
  int64_t *prefix;          /* [..][prefix]: of patch queries on each token before the patches */
  int64_t *squares;         /* [..]: of a patch query's weights on patches, squared and summed */
  int64_t *maps;            /* [maps of the shape][patches] */
  int64_t twin_pictures;    /* scenes whose twins were looked at */
  survey_moments *twins;    /* [..]: scene_twins_weight */
  survey_states states;
} survey_sums;

/* What one picture adds. Arrays as those of the sums. */
typedef struct survey_numbers {
  bool mapped; /* whether all but statistics and states are there */
  bool twins;  /* whether twin_weights are there */
  double *statistics, *first_row, *offsets, *prefix, *squares, *maps, *twin_weights;
  float *embedding; /* [embedding of the shape]; not summed */
  survey_state_numbers states;
} survey_numbers;

/* Statuses: OUT_OF_MEMORY. Free also what failed. */
heed_status survey_sums_create(const survey_shape *shape, survey_sums *sums, heed_error *error);
void survey_sums_free(survey_sums *sums);
heed_status survey_numbers_create(const survey_shape *shape, survey_numbers *numbers,
                                  heed_error *error);
void survey_numbers_free(survey_numbers *numbers);

/* Statuses: INVALID_FILE (a number beyond what is counted, or too many pictures); then nothing was
 * added. */
heed_status survey_sums_add(survey_sums *sums, const survey_numbers *numbers, heed_error *error);
/* The sums of other pictures of the same shape. Statuses: INVALID_FILE (too many pictures). */
heed_status survey_sums_merge(survey_sums *sums, const survey_sums *other, heed_error *error);

/* The mean of map number `map` of the shape's at a patch. */
double survey_sums_map(const survey_sums *sums, size_t map, size_t patch);
/* Of one statistic of a head, index = layer * heads + head. */
survey_summary survey_sums_summary(const survey_sums *sums, size_t head, size_t statistic);
/* Of weights from twin to twin, in x uniform, over twin_pictures. */
survey_summary survey_sums_twins(const survey_sums *sums, size_t head);
/* The width of a bin: what a quantile is off by at most. Numbers beyond the last are in the last.
 */
double survey_bin_width(const survey_shape *shape, size_t statistic);
/* The least number that a share q of the pictures does not exceed, to one bin; NaN where it lies
 * beyond the bins. */
double survey_sums_quantile(const survey_sums *sums, size_t head, size_t statistic, double q);

#endif
