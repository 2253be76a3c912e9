/* heed run --ablate L.H --replace-from IMAGE|FOLDER: what heads give on other images. */
#ifndef HEED_CLI_RUN_RESAMPLED_H
#define HEED_CLI_RUN_RESAMPLED_H

#include "parts.h"

/* Puts the mean over those images into the changes of a picture that has some; what was found is
 * kept for the next picture of the same size. Leaves the pipeline without a session where it runs.
 * Statuses: INVALID_ARGUMENT, INVALID_FILE (another size), those of reading images and of a run. */
heed_status run_resample(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                         run_result *result);
void run_resampled_free(run_resampled *resampled);

#endif
