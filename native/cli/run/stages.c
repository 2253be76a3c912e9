/* Of a model with stages: one layer at a time, whose attention lies in windows. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"

uint32_t run_layer(const run_options *options, const heed_model_info *info) {
  uint32_t layer = 0;
  if (!info->stages) return 0;
  return options->layer && cli_read_number(options->layer, info->layers - 1, &layer)
             ? layer
             : info->layers - 1;
}

heed_status run_choose_stage(cli_state *cli, cli_pipeline *pipeline, run_options *options) {
  const struct {
    const char *name;
    bool given;
  } refused[] = {{"--layer all", options->layer && strcmp(options->layer, "all") == 0},
                 {"--rollout", options->rollout},
                 {"--explain", options->explain},
                 {"--score", options->score},
                 {"--scene", options->scene},
                 {"changes of the attention", cli_changes_any(&options->changes)}};
  if (!pipeline->info.stages) return HEED_OK;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].given)
      return heed_fail(&cli->error, HEED_UNSUPPORTED,
                       "%s: not supported of a model with stages (found %u grids, expected one "
                       "layer by --layer)",
                       refused[i].name, pipeline->info.stages);
  heed_layer_info layer;
  const heed_build_desc size = {
      .struct_size = sizeof size, .height = pipeline->build.height, .width = pipeline->build.width};
  CLI_TRY(heed_model_layer(pipeline->model, &size, run_layer(options, &pipeline->info), &layer,
                           &cli->error));
  pipeline->info.heads = layer.heads;
  options->narrow.layer = true;
  return HEED_OK;
}

heed_status run_read_windows(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_selection *selection,
                             run_result *result) {
  const uint32_t index = run_layer(options, &pipeline->info), rows = result->attention_rows;
  const heed_build_desc size = {
      .struct_size = sizeof size, .height = result->batch_height, .width = result->batch_width};
  heed_layer_info layer;
  char name[HEED_TAP_NAME_SIZE];
  float *windows;
  heed_shape shape;
  if (index < result->first_kept || index >= result->first_kept + result->kept) return HEED_OK;
  CLI_TRY(heed_model_layer(pipeline->model, &size, index, &layer, &cli->error));
  float *map = run_copy_map(result, index, layer.heads);
  if (!map)
    return heed_fail_memory(&cli->error, "attention maps",
                            (size_t)layer.heads * rows * result->tokens * sizeof *map);
  CLI_TRY(cli_pipeline_read(cli, pipeline, heed_tap_name(HEED_TAP_WEIGHTS, index, name), &windows,
                            &shape));
  for (uint32_t h = 0; h < layer.heads; h++)
    for (uint32_t r = 0; r < rows; r++)
      heed_window_row(&layer, windows, h, rows == 1 ? selection->query : r,
                      map + ((size_t)h * rows + r) * result->tokens);
  free(windows);
  return HEED_OK;
}
