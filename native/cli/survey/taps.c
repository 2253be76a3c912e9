/* What a survey reads. See taps.h. */
#include "taps.h"

#include <stdlib.h>

/* A cli_pipeline.choose_taps. */
static heed_status choose(cli_state *cli, cli_pipeline *pipeline, void *user) {
  const survey_taps *taps = user;
  const uint32_t layers = pipeline->info.layers;
  heed_value value;
  heed_value_info info;
  bool states = true;
  (void)cli;
  for (uint32_t i = 0; i < layers && states; i++)
    states =
        cli_pipeline_find(pipeline, taps->names[layers + i], &value, &info) && info.shape.rank == 3;
  pipeline->tap_count = states ? 2 * layers : layers;
  return HEED_OK;
}

heed_status survey_taps_set(cli_state *cli, cli_pipeline *pipeline, survey_taps *taps) {
  const uint32_t layers = pipeline->info.layers;
  *taps = (survey_taps){.text = calloc(2 * (size_t)layers + 1, sizeof *taps->text),
                        .names = calloc(2 * (size_t)layers + 1, sizeof *taps->names)};
  if (!taps->text || !taps->names)
    return heed_fail_memory(&cli->error, "taps", layers * sizeof *taps->text);
  for (uint32_t i = 0; i < layers; i++) {
    taps->names[i] = heed_tap_name(HEED_TAP_WEIGHTS, i, taps->text[i]);
    taps->names[layers + i] = heed_tap_name(HEED_TAP_OUTPUT, i, taps->text[layers + i]);
  }
  pipeline->tap_names = taps->names;
  pipeline->choose_taps = choose;
  pipeline->taps_user = taps;
  return HEED_OK;
}

bool survey_taps_states(const cli_pipeline *pipeline) {
  return pipeline->tap_count > pipeline->info.layers;
}

void survey_taps_free(survey_taps *taps) {
  free(taps->text);
  free(taps->names);
  *taps = (survey_taps){0};
}
