/* The frames of a video, for heed run. */
#ifndef HEED_CLI_RUN_CLIP_H
#define HEED_CLI_RUN_CLIP_H

#include "parts.h"

/* What a model of videos cannot do. Statuses: UNSUPPORTED. */
heed_status run_check_clip(cli_state *cli, const cli_pipeline *pipeline,
                           const run_options *options);
/* The folder of the frames, or the animated picture: malloc'ed. */
heed_status run_name_clip(cli_state *cli, const run_batch *batch, char **name);
/* Which of the frames that there are is the index-th of those that are wanted: evenly spread, the
 * first and the last among them. */
uint32_t run_clip_frame(uint32_t index, uint32_t wanted, uint32_t there);
/* Reads options->clip: result's pixels [frames, C, H, W], sizes, and its image with the time steps
 * side by side, whole in its region. */
heed_status run_load_clip(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                          run_result *result);

#endif
