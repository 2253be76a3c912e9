/* Two stored surveys of the same images: which heads moved. */
#ifndef HEED_CLI_SURVEY_COMPARE_H
#define HEED_CLI_SURVEY_COMPARE_H

#include "terminal/cli.h"

/* Prints the statistics of heads whose mean moved, by a paired t-test over the images of both and
 * Holm's correction for all heads and statistics. json may be NULL. Statuses: IO, INVALID_FILE (not
 * a survey), INVALID_ARGUMENT (other heads, fewer than 2 common images, or no rows of heads). */
heed_status survey_compare(cli_state *cli, const char *a, const char *b, const char *json);

#endif
