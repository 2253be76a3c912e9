/* Surveys that are stored: shown again, or the shards of one put together. */
#ifndef HEED_CLI_SURVEY_MERGE_H
#define HEED_CLI_SURVEY_MERGE_H

#include "outputs.h"

typedef struct survey_merge_desc {
  const char *const *parts;
  uint32_t count;
  const char *out; /* may be NULL */
  const survey_outputs *outputs;
  const heed_image_limits *limits; /* of the pictures that a report shows */
  bool quiet;
} survey_merge_desc;

/* Prints the sums of all parts, which are of one survey and share no picture. Statuses: IO,
 * INVALID_FILE (not a survey), INVALID_ARGUMENT (parts of several surveys, or one twice). */
heed_status survey_merge(cli_state *cli, const survey_merge_desc *desc);

#endif
