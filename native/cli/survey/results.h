/* What a survey prints: a table of heads, and JSON. */
#ifndef HEED_CLI_SURVEY_RESULTS_H
#define HEED_CLI_SURVEY_RESULTS_H

#include "facts.h"
#include "terminal/cli.h"

typedef struct survey_results {
  const char *model;                               /* NULL: the demo model */
  const char *family, *assumed, *backend, *device; /* assumed may be NULL */
  const survey_sums *sums;
  int64_t failed;
  const survey_facts *facts; /* NULL: of a survey that is not stored */
} survey_results;

void survey_print(const survey_results *results);
/* A heed_file_writer of `const survey_results`. */
heed_status survey_write_json(void *results, FILE *to, heed_error *error);

#endif
