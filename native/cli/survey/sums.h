/* Sums over pictures as exact integers: the same whatever the order of the pictures, the threads,
 * or the parts that a survey was split into. A number is rounded once, to a multiple of a power of
 * two, and counted in such units. */
#ifndef HEED_CLI_SURVEY_SUMS_H
#define HEED_CLI_SURVEY_SUMS_H

#include <stdbool.h>

#include "heed/base.h"
#include "statistics.h"

#define SURVEY_BINS 512
#define SURVEY_WEIGHT_BITS 38                   /* mean maps are counted in units of 2^-38 */
#define SURVEY_MOST_PICTURES (INT64_C(1) << 24) /* of 2^39 units each: sums stay below 2^63 */

/* What a survey is of. The grid is the model's own; maps of another are not summed. */
typedef struct survey_shape {
  uint32_t layers, heads, prefix, rows, columns, patch;
} survey_shape;

typedef struct survey_moments {
  int64_t sum;                        /* of units */
  uint64_t squares_high, squares_low; /* of units squared */
  int64_t least, largest;             /* in units; of no picture INT64_MAX, INT64_MIN */
} survey_moments;

/* Arrays are [layer][head][...]. */
typedef struct survey_sums {
  survey_shape shape;
  int64_t pictures, mapped; /* that were read; whose grid is that of `shape` */
  survey_moments *moments;  /* [..][SURVEY_STATISTICS] */
  int64_t *bins;            /* [..][SURVEY_STATISTICS][SURVEY_BINS]: pictures */
  int64_t *first_row;       /* [..][tokens]: weights of the first token, where it is no patch */
  int64_t *offsets;         /* [..][2 rows - 1][2 columns - 1]: of a patch on one that lies so
                             * many rows and columns further, mean over patch queries */
} survey_sums;

/* What one picture adds. Arrays as those of the sums. */
typedef struct survey_numbers {
  bool mapped; /* whether first_row and offsets are there */
  double *statistics, *first_row, *offsets;
} survey_numbers;

static inline size_t survey_heads(const survey_shape *shape) {
  return (size_t)shape->layers * shape->heads;
}
static inline size_t survey_tokens(const survey_shape *shape) {
  return shape->prefix + (size_t)shape->rows * shape->columns;
}
static inline size_t survey_offsets(const survey_shape *shape) {
  return (2 * (size_t)shape->rows - 1) * (2 * (size_t)shape->columns - 1);
}

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

/* Of one statistic of a head, index = layer * heads + head. */
typedef struct survey_summary {
  double mean, spread; /* spread: standard deviation, n - 1 */
  double least, largest;
} survey_summary;
survey_summary survey_sums_summary(const survey_sums *sums, size_t head, size_t statistic);
/* The width of a bin: what a quantile is off by at most. Numbers beyond the last are in the last.
 */
double survey_bin_width(const survey_shape *shape, size_t statistic);
/* The least number that a share q of the pictures does not exceed, to one bin; NaN where it lies
 * beyond the bins. */
double survey_sums_quantile(const survey_sums *sums, size_t head, size_t statistic, double q);

#endif
