/* What components are made of, and heed run --explain pca --joint: those of the patches of all
 * images together. */
#ifndef HEED_CLI_RUN_JOINT_H
#define HEED_CLI_RUN_JOINT_H

#include "parts.h"

#define RUN_STATES "last_hidden_state"
/* Whether the session has the states of so many tokens. Statuses: UNSUPPORTED. */
heed_status run_check_states(cli_state *cli, const cli_pipeline *pipeline, uint32_t tokens);
/* The numbers of the components of so many patches, in one block, and where each lies in it. */
size_t run_pca_floats(size_t patches, uint32_t channels);
void run_pca_place(float *numbers, size_t patches, uint32_t channels, heed_pca *pca);

/* Runs all images for their states, and finds their components; nothing without --joint. An image
 * that cannot be read is left out: it gives its sentence when its turn comes. Statuses: those of a
 * run, INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status run_join(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                     const run_batch *batch);
/* Where the patches of an image begin among all; SIZE_MAX: it was left out. */
size_t run_joint_find(const run_joint *joint, const char *picture);
void run_joint_free(run_joint *joint);

#endif
