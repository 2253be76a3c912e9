/* A model's text tower: ids in, what it makes of each text out. */
#ifndef HEED_CLI_SESSION_TEXT_TOWER_H
#define HEED_CLI_SESSION_TEXT_TOWER_H

#include "pipeline.h"

/* Opens the text tower of a model on disk. */
heed_status cli_text_load(cli_state *cli, cli_pipeline *pipeline, const char *path);
/* The value of which a text's row is its pooler_output: of SigLIP after the projection. */
const char *cli_text_pooled(const cli_pipeline *pipeline);
/* Of a value [B, T, N] of a session that has run on ids [B, T] the row of each text: malloc'ed
 * [B, N]. */
heed_status cli_text_rows(cli_state *cli, const cli_pipeline *pipeline, const char *name,
                          const int32_t *ids, float **rows, heed_shape *shape);

#endif
