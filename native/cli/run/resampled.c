/* See resampled.h. */
#include "resampled.h"

#include <stdlib.h>

#include "terminal/picture_list.h"

void run_resampled_free(run_resampled *resampled) {
  free(resampled->mean);
  *resampled = (run_resampled){.mean = NULL};
}

/* mean [T, C] of the layer += output / images */
static heed_status add_heads(cli_change_inputs *inputs, uint32_t layer, const float *output,
                             void *user, heed_error *error) {
  const run_resampled *to = user;
  double *mean = to->mean + layer * to->layer_size;
  (void)inputs;
  (void)error;
  for (size_t i = 0; i < to->layer_size; i++) mean[i] += (double)output[i] / to->images;
  return HEED_OK;
}

static heed_status add_image(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                             const char *path, const run_result *result, run_resampled *to) {
  run_options alone = *options;
  run_result other = {.picture = NULL};
  cli_change_inputs inputs = result->changes;
  alone.scene = NULL;
  heed_status status = run_load_picture(cli, pipeline, &alone, path, &other);
  if (status == HEED_OK &&
      (other.batch_height != result->batch_height || other.batch_width != result->batch_width))
    status = heed_fail(&cli->error, HEED_INVALID_FILE,
                       "--replace-from: %s: another size (found %ux%u pixels for the model, "
                       "expected %ux%u, as with --size)",
                       path, other.batch_width, other.batch_height, result->batch_width,
                       result->batch_height);
  if (status == HEED_OK)
    status = cli_change_inputs_run(cli, pipeline, &options->choice, other.pixels, &inputs,
                                   add_heads, to);
  heed_picture_free(cli->context, &other.image);
  free(other.pixels);
  return status;
}

static heed_status find_means(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                              const run_result *result, run_resampled *to) {
  const heed_model_info *info = &pipeline->info;
  picture_list images = {.most = options->most_images};
  to->height = result->batch_height;
  to->width = result->batch_width;
  to->layer_size =
      (size_t)result->tokens * (info->attention_width ? info->attention_width : info->width);
  to->mean = calloc(info->layers * to->layer_size, sizeof *to->mean);
  if (!to->mean)
    return heed_fail_memory(&cli->error, "--replace-from",
                            info->layers * to->layer_size * sizeof *to->mean);
  heed_status status = picture_list_make(cli, &options->changes.replace_from, 1, NULL,
                                         options->choice.quiet, &images);
  to->images = images.count;
  for (uint32_t i = 0; i < images.count && status == HEED_OK; i++)
    status = add_image(cli, pipeline, options, images.path[i], result, to);
  picture_list_free(&images);
  return status;
}

heed_status run_resample(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                         run_result *result) {
  run_resampled *from = &options->resampled;
  if (!result->changes.resampled) return HEED_OK;
  if (!from->mean || from->height != result->batch_height || from->width != result->batch_width) {
    run_resampled_free(from);
    const heed_status status = find_means(cli, pipeline, options, result, from);
    if (status != HEED_OK) {
      run_resampled_free(from);
      return status;
    }
  }
  float *rows = malloc(from->layer_size * sizeof *rows);
  heed_status status =
      rows ? HEED_OK
           : heed_fail_memory(&cli->error, "--replace-from", from->layer_size * sizeof *rows);
  for (uint32_t l = 0; l < pipeline->info.layers && status == HEED_OK; l++) {
    for (size_t i = 0; i < from->layer_size; i++)
      rows[i] = (float)from->mean[l * from->layer_size + i];
    status = heed_changes_resample(result->changes.changes, l, rows, &cli->error);
  }
  free(rows);
  return status;
}
