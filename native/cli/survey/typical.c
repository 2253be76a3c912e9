/* Typical pictures. See typical.h. */
#include "typical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

heed_status survey_typical_create(const survey_shape *shape, size_t statistic, uint32_t most,
                                  survey_typical *typical, heed_error *error) {
  const size_t count = survey_heads(shape) * 2 * most;
  *typical = (survey_typical){.shape = *shape,
                              .statistic = statistic,
                              .most = most,
                              .examples = calloc(count + 1, sizeof *typical->examples)};
  if (!typical->examples) return heed_fail_memory(error, "survey", count * sizeof(survey_example));
  for (size_t i = 0; i < count; i++) typical->examples[i].picture = -1;
  return HEED_OK;
}

void survey_typical_free(survey_typical *typical) {
  free(typical->examples);
  *typical = (survey_typical){0};
}

static bool comes_before(const survey_example *a, const survey_example *b, int kind) {
  if (b->picture < 0) return true;
  return kind ? a->distance > b->distance : a->distance < b->distance;
}

static void insert(survey_example *list, uint32_t most, const survey_example *offered, int kind) {
  uint32_t at = most;
  while (at && comes_before(offered, &list[at - 1], kind)) at--;
  if (at == most) return;
  memmove(list + at + 1, list + at, (most - at - 1) * sizeof *list);
  list[at] = *offered;
}

void survey_typical_offer(survey_typical *typical, const survey_sums *sums, size_t head,
                          int64_t picture, double value) {
  const double mean = survey_sums_summary(sums, head, typical->statistic).mean;
  const survey_example offered = {picture, value, fabs(value - mean)};
  survey_example *list = typical->examples + 2 * head * typical->most;
  uint32_t found = 0;
  for (int kind = 0; kind < 2; kind++)
    insert(list + (size_t)kind * typical->most, typical->most, &offered, kind);
  while (found < typical->most && list[found].picture >= 0) found++;
  if (found > typical->found) typical->found = found;
}
