/* See joint.h. */
#include "joint.h"

#include <stdlib.h>
#include <string.h>

heed_status run_check_states(cli_state *cli, const cli_pipeline *pipeline, uint32_t tokens) {
  heed_value value;
  heed_value_info info;
  if (!pipeline->as_graph && cli_pipeline_find(pipeline, RUN_STATES, &value, &info) &&
      info.shape.rank == 3 && info.shape.dim[1] == tokens)
    return HEED_OK;
  return heed_fail(
      &cli->error, HEED_UNSUPPORTED,
      "--explain: no states of the patches (found %s, expected a model that heed "
      "builds, as with --way weights)",
      pipeline->as_graph ? "a graph that runs as it is" : "a model without " RUN_STATES);
}

size_t run_pca_floats(size_t patches, uint32_t channels) {
  return 7 * (size_t)channels + 3 + 6 * patches;
}

void run_pca_place(float *numbers, size_t patches, uint32_t channels, heed_pca *pca) {
  pca->mean = numbers;
  pca->components = pca->mean + channels;
  pca->colours = pca->components + 3 * (size_t)channels;
  pca->variance = pca->colours + 3 * (size_t)channels;
  pca->scores = pca->variance + 3;
  pca->rgb = pca->scores + 3 * patches;
}

void run_joint_free(run_joint *joint) {
  free(joint->first);
  free(joint->numbers);
  free(joint->pca.foreground);
  *joint = (run_joint){.wanted = joint->wanted};
}

size_t run_joint_find(const run_joint *joint, const char *picture) {
  for (uint32_t i = 0; i < joint->count; i++)
    if (joint->pictures[i] == picture) return joint->first[i];
  return SIZE_MAX;
}

/* The states of all images so far. */
typedef struct joined {
  float *states;
  size_t patches;
  uint32_t channels, images;
  heed_patches *grids; /* [images] */
} joined;

static heed_status append(cli_state *cli, const cli_pipeline *pipeline, const run_result *result,
                          joined *to) {
  float *states;
  heed_shape shape;
  const heed_model_info *info = &pipeline->info;
  const heed_patches grid = {result->batch_height / info->patch, result->batch_width / info->patch};
  const size_t count = (size_t)grid.rows * grid.columns;
  CLI_TRY(cli_pipeline_read(cli, pipeline, RUN_STATES, &states, &shape));
  to->channels = shape.dim[2];
  const size_t floats = count * to->channels, before = to->patches * to->channels;
  float *grown = realloc(to->states, (before + floats) * sizeof *grown);
  if (grown) {
    to->states = grown;
    memcpy(grown + before, states + (size_t)shape.dim[1] * to->channels - floats,
           floats * sizeof *grown);
    to->grids[to->images++] = grid;
    to->patches += count;
  }
  free(states);
  return grown ? HEED_OK
               : heed_fail_memory(&cli->error, "--joint", (before + floats) * sizeof *grown);
}

static heed_status run_one(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                           const run_result *result, joined *to) {
  if (pipeline->session && (pipeline->build.height != result->batch_height ||
                            pipeline->build.width != result->batch_width))
    cli_pipeline_reset(pipeline);
  pipeline->build.height = result->batch_height;
  pipeline->build.width = result->batch_width;
  CLI_TRY(cli_pipeline_run(cli, pipeline, &options->choice, result->pixels));
  CLI_TRY(run_check_states(
      cli, pipeline,
      result->batch_height / pipeline->info.patch * (result->batch_width / pipeline->info.patch) +
          pipeline->info.prefix_tokens));
  return append(cli, pipeline, result, to);
}

static heed_status add_image(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                             const char *path, bool alone, size_t *first, joined *to) {
  run_result result = {.picture = NULL};
  heed_status status = run_load_picture(cli, pipeline, options, path, &result);
  *first = to->patches;
  if (status == HEED_OK)
    status = run_one(cli, pipeline, options, &result, to);
  else if (!alone && cli_exit_code(status) == CLI_BAD_FILE) {
    status = HEED_OK;
    *first = SIZE_MAX;
  }
  heed_picture_free(cli->context, &result.image);
  free(result.pixels);
  return status;
}

static heed_status fit(cli_state *cli, const joined *all, run_joint *to) {
  const size_t floats = run_pca_floats(all->patches, all->channels);
  to->numbers = malloc(floats * sizeof *to->numbers);
  to->pca.foreground = malloc(all->patches);
  if (!to->numbers || !to->pca.foreground)
    return heed_fail_memory(&cli->error, "--joint", floats * sizeof *to->numbers);
  run_pca_place(to->numbers, all->patches, all->channels, &to->pca);
  return heed_patches_pca(cli->context, all->states, all->grids, all->images, all->channels,
                          &to->pca, &cli->error);
}

heed_status run_join(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                     const run_batch *batch) {
  run_joint *to = &options->joint;
  joined all = {.states = NULL};
  if (!to->wanted) return HEED_OK;
  to->pictures = batch->pictures;
  to->count = batch->count;
  to->first = calloc(batch->count, sizeof *to->first);
  all.grids = calloc(batch->count, sizeof *all.grids);
  heed_status status = to->first && all.grids
                           ? HEED_OK
                           : heed_fail_memory(&cli->error, "--joint", batch->count * 16u);
  for (uint32_t i = 0; i < batch->count && status == HEED_OK; i++)
    status = add_image(cli, pipeline, options, batch->pictures[i], batch->count == 1, &to->first[i],
                       &all);
  cli_pipeline_reset(pipeline);
  if (status == HEED_OK && all.images) status = fit(cli, &all, to);
  free(all.states);
  free(all.grids);
  return status;
}
