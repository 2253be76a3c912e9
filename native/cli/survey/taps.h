/* What a survey reads of a run: the attention of all layers, one value more on request, and the
 * states after each layer where the graph has them. */
#ifndef HEED_CLI_SURVEY_TAPS_H
#define HEED_CLI_SURVEY_TAPS_H

#include "session/pipeline.h"

typedef struct survey_taps {
  char (*text)[HEED_TAP_NAME_SIZE];
  const char **names; /* [2 layers + 1]: maps, the value more, states */
  bool more;
} survey_taps;

/* Makes the pipeline's taps these, and those of its copies. The taps stay as long as they do, and
 * nothing changes them. more: a value's name, which stays as long; or NULL. Statuses:
 * OUT_OF_MEMORY.
 */
heed_status survey_taps_set(cli_state *cli, cli_pipeline *pipeline, const char *more,
                            survey_taps *taps);
void survey_taps_free(survey_taps *taps);
/* Whether the states of all layers are tapped, of a pipeline that has a graph. */
bool survey_taps_states(const cli_pipeline *pipeline);

#endif
