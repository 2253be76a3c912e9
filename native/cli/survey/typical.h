/* The pictures whose statistic of a head is the closest to its mean, and those farthest from it. */
#ifndef HEED_CLI_SURVEY_TYPICAL_H
#define HEED_CLI_SURVEY_TYPICAL_H

#include "sums.h"

#define SURVEY_MOST_TYPICAL 32

typedef struct survey_example {
  int64_t picture;
  double value, distance; /* of the statistic; from its mean */
} survey_example;

typedef struct survey_typical {
  survey_shape shape;
  size_t statistic;
  uint32_t most;            /* of each kind for each head */
  uint32_t found;           /* of them, the same for all heads; 0: there are no rows of heads */
  survey_example *examples; /* [heads][2][most]: the closest, then the farthest, in this order */
} survey_typical;

/* Statuses: OUT_OF_MEMORY. */
heed_status survey_typical_create(const survey_shape *shape, size_t statistic, uint32_t most,
                                  survey_typical *typical, heed_error *error);
void survey_typical_free(survey_typical *typical);
/* Of equal distances the first that is offered stays. */
void survey_typical_offer(survey_typical *typical, const survey_sums *sums, size_t head,
                          int64_t picture, double value);
/* kind 0: typical, 1: untypical. */
static inline const survey_example *survey_typical_of(const survey_typical *typical, size_t head,
                                                      int kind) {
  return typical->examples + (2 * head + (size_t)kind) * typical->most;
}

#endif
