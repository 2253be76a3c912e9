/* Norms of the states after each layer. See gather.h. */
#include <math.h>
#include <stdlib.h>

#include "gather.h"
#include "taps.h"

/* The numbers of a layer, from norms [tokens]. */
static heed_status take_norms(cli_state *cli, const survey_shape *shape, uint32_t layer,
                              const float *norms, uint32_t patches, uint8_t *outliers,
                              survey_state_numbers *numbers) {
  double *of = numbers->moments + (size_t)layer * SURVEY_NORMS;
  float bound;
  double sum = 0.0, largest = 0.0;
  uint32_t found = 0;
  const uint32_t tokens = shape->prefix + patches;
  for (uint32_t t = 0; t < tokens; t++) {
    if (t >= shape->prefix) sum += (double)norms[t];
    if ((double)norms[t] > largest) largest = (double)norms[t];
  }
  CLI_TRY(heed_patches_outliers(cli->context, norms + shape->prefix, patches, outliers, &bound,
                                &cli->error));
  for (uint32_t p = 0; p < patches; p++) found += outliers[p];
  of[SURVEY_PATCH_NORM] = sum / patches;
  of[SURVEY_FIRST_NORM] = shape->prefix ? (double)norms[0] : 0.0;
  of[SURVEY_LARGEST_NORM] = largest;
  of[SURVEY_OUTLIERS] = found;
  if (!numbers->mapped) return HEED_OK;
  for (uint32_t t = 0; t < tokens; t++)
    numbers->norms[layer * survey_tokens(shape) + t] = (double)norms[t];
  for (uint32_t p = 0; p < patches; p++)
    numbers->outliers[layer * survey_patches(shape) + p] = outliers[p];
  return HEED_OK;
}

static heed_status gather_layer(cli_state *cli, const cli_pipeline *pipeline,
                                const survey_shape *shape, uint32_t layer, const float *states,
                                const heed_shape *found, survey_state_numbers *numbers) {
  const uint32_t patches =
      pipeline->build.height / shape->patch * (pipeline->build.width / shape->patch);
  /* other tokens than all, as where layers merge patches: these models have no such sums */
  const bool whole = found->dim[1] == shape->prefix + patches;
  float *norms = malloc((size_t)found->dim[1] * sizeof *norms + 1);
  uint8_t *outliers = malloc((size_t)found->dim[1] + 1);
  heed_status status = norms && outliers ? HEED_OK
                                         : heed_fail_memory(&cli->error, "states",
                                                            (size_t)found->dim[1] * sizeof *norms);
  numbers->present = numbers->present && whole;
  if (status == HEED_OK && whole) {
    heed_patches_norms(states, found->dim[1], found->dim[2], norms);
    status = take_norms(cli, shape, layer, norms, patches, outliers, numbers);
  }
  free(norms);
  free(outliers);
  return status;
}

void survey_begin_states(const cli_pipeline *pipeline, const survey_shape *shape,
                         survey_numbers *numbers) {
  survey_state_numbers *states = &numbers->states;
  states->present = survey_taps_states(pipeline);
  states->mapped = pipeline->build.height / shape->patch == shape->rows &&
                   pipeline->build.width / shape->patch == shape->columns;
}

heed_status survey_pass_states(cli_state *cli, const cli_pipeline *pipeline,
                               const survey_shape *shape, uint32_t *layer,
                               survey_numbers *numbers) {
  char name[HEED_TAP_NAME_SIZE];
  heed_value value;
  heed_value_info info;
  heed_error none;
  const void *states;
  for (; *layer < shape->layers && numbers->states.present; ++*layer) {
    heed_tap_name(HEED_TAP_OUTPUT, *layer, name);
    if (!cli_pipeline_find(pipeline, name, &value, &info))
      return heed_fail(&cli->error, HEED_INTERNAL, "%s: unknown states", name);
    if (heed_session_view(pipeline->session, value, &states, &none) != HEED_OK) break;
    CLI_TRY(gather_layer(cli, pipeline, shape, *layer, states, &info.shape, &numbers->states));
  }
  return HEED_OK;
}

/* Of a session whose memory cannot be seen. */
static heed_status read_layer(cli_state *cli, const cli_pipeline *pipeline,
                              const survey_shape *shape, uint32_t layer,
                              survey_state_numbers *numbers) {
  char name[HEED_TAP_NAME_SIZE];
  heed_shape found;
  float *states;
  CLI_TRY(cli_pipeline_read(cli, pipeline, heed_tap_name(HEED_TAP_OUTPUT, layer, name), &states,
                            &found));
  const heed_status status = gather_layer(cli, pipeline, shape, layer, states, &found, numbers);
  free(states);
  return status;
}

heed_status survey_gather_states(cli_state *cli, const cli_pipeline *pipeline,
                                 const survey_shape *shape, survey_numbers *numbers) {
  uint32_t layer = 0;
  survey_begin_states(pipeline, shape, numbers);
  CLI_TRY(survey_pass_states(cli, pipeline, shape, &layer, numbers));
  for (; layer < shape->layers && numbers->states.present; layer++)
    CLI_TRY(read_layer(cli, pipeline, shape, layer, &numbers->states));
  return HEED_OK;
}
