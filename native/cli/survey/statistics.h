/* The numbers of a head that a survey gathers, and how each is counted exactly. */
#ifndef HEED_CLI_SURVEY_STATISTICS_H
#define HEED_CLI_SURVEY_STATISTICS_H

#include <stddef.h>

#include "heed/explain.h"

#define SURVEY_STATISTICS 7

typedef enum survey_unit { SURVEY_NATS, SURVEY_PIXELS, SURVEY_SHARE } survey_unit;

typedef struct survey_statistic {
  const char *name;    /* as heed run --json has it */
  size_t offset;       /* of the double in heed_map_statistics */
  const char *heading; /* in the table; NULL: only in files */
  double factor;       /* from the number to the table's unit */
  int digits;
  survey_unit unit;
  int bits; /* it is counted in units of 2^-bits */
} survey_statistic;

extern const survey_statistic survey_statistics[SURVEY_STATISTICS];

double survey_statistic_of(const heed_map_statistics *of, size_t index);

#endif
