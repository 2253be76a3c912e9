/* The numbers of a survey as tensors. */
#ifndef HEED_CLI_SURVEY_SAVE_H
#define HEED_CLI_SURVEY_SAVE_H

#include "sums.h"
#include "terminal/cli.h"

/* docs/surveys.md has the tensors. Statuses: those of cli_tensors_save. */
heed_status survey_save(cli_state *cli, const survey_sums *sums, const char *path);

#endif
