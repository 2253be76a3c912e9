/* What a survey reads. See taps.h. */
#include "taps.h"

#include <stdlib.h>

/* A cli_pipeline.choose_taps. */
static heed_status choose(cli_state *cli, cli_pipeline *pipeline, void *user) {
  const survey_taps *taps = user;
  const uint32_t layers = pipeline->info.layers, first = layers + taps->more;
  heed_value value;
  heed_value_info info;
  bool states = true;
  (void)cli;
  for (uint32_t i = 0; i < layers && states; i++)
    states =
        cli_pipeline_find(pipeline, taps->names[first + i], &value, &info) && info.shape.rank == 3;
  pipeline->tap_count = first + (states ? layers : 0);
  return HEED_OK;
}

heed_status survey_taps_set(cli_state *cli, cli_pipeline *pipeline, const char *more,
                            survey_taps *taps) {
  const uint32_t layers = pipeline->info.layers, first = layers + (more != NULL);
  *taps = (survey_taps){.text = calloc(2 * (size_t)layers + 1, sizeof *taps->text),
                        .names = calloc(2 * (size_t)layers + 1, sizeof *taps->names),
                        .more = more != NULL};
  if (!taps->text || !taps->names)
    return heed_fail_memory(&cli->error, "taps", layers * sizeof *taps->text);
  if (more) taps->names[layers] = more;
  for (uint32_t i = 0; i < layers; i++) {
    taps->names[i] = heed_tap_name(HEED_TAP_WEIGHTS, i, taps->text[i]);
    taps->names[first + i] = heed_tap_name(HEED_TAP_OUTPUT, i, taps->text[layers + i]);
  }
  pipeline->tap_names = taps->names;
  pipeline->choose_taps = choose;
  pipeline->taps_user = taps;
  return HEED_OK;
}

bool survey_taps_states(const cli_pipeline *pipeline) {
  const survey_taps *taps = pipeline->taps_user;
  return pipeline->tap_count > pipeline->info.layers + taps->more;
}

void survey_taps_free(survey_taps *taps) {
  free(taps->text);
  free(taps->names);
  *taps = (survey_taps){0};
}
