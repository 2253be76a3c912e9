/* Exact mean, spread and range of numbers that are counted in units of a power of two. */
#ifndef HEED_CLI_SURVEY_MOMENTS_H
#define HEED_CLI_SURVEY_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

#define SURVEY_MOST_UNITS (INT64_C(1) << 39)    /* of one number */
#define SURVEY_MOST_PICTURES (INT64_C(1) << 24) /* of 2^39 units each: sums stay below 2^63 */

typedef struct survey_moments {
  int64_t sum;                        /* of units */
  uint64_t squares_high, squares_low; /* of units squared */
  int64_t least, largest;             /* in units; of no picture INT64_MAX, INT64_MIN */
} survey_moments;
#define SURVEY_NO_MOMENTS ((survey_moments){.least = INT64_MAX, .largest = INT64_MIN})

typedef struct survey_summary {
  double mean, spread; /* spread: standard deviation, n - 1 */
  double least, largest;
} survey_summary;

/* Whether a number is below the largest that is counted; NaN is not. */
bool survey_counts(double number, int bits);
/* A number that counts, in units of 2^-bits. */
int64_t survey_units(double number, int bits);
void survey_moments_add(survey_moments *of, int64_t units);
void survey_moments_merge(survey_moments *of, const survey_moments *more);
/* Of `count` numbers; zeros where there is none. */
survey_summary survey_moments_summary(const survey_moments *of, int64_t count, int bits);

#endif
