/* The frames of a video: all pictures of a run, or those of one animated picture, and the figure's
 * picture of them, in which the time steps lie side by side. */
#include "clip.h"

#include <stdlib.h>
#include <string.h>

#include "files/names.h"

#define MOST_FRAMES 4096u /* of a model */

static heed_status refuse(cli_state *cli, const char *option) {
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: not supported of videos (found a model of videos, expected it left out)",
                   option);
}

heed_status run_check_clip(cli_state *cli, const cli_pipeline *pipeline,
                           const run_options *options) {
  const struct {
    const char *name;
    bool given;
  } refused[] = {{"--scene", options->scene},
                 {"--sheet", options->sheet},
                 {"--explain", options->explain},
                 {"--fit whole", options->fit && strcmp(options->fit, "whole") == 0},
                 {"changes of the attention", cli_changes_any(&options->changes)},
                 {"--frame", options->limits.frame}};
  const uint32_t frames = pipeline->info.frames;
  if (!frames) return HEED_OK;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].given) return refuse(cli, refused[i].name);
  if (frames <= MOST_FRAMES) return HEED_OK;
  return heed_fail(&cli->error, HEED_UNSUPPORTED,
                   "%s: too many frames (found %u, expected at most %u)", cli->verb, frames,
                   MOST_FRAMES);
}

/* "clip/frame_000.png" -> "clip". */
heed_status run_name_clip(cli_state *cli, const run_batch *batch, char **name) {
  const char *first = batch->pictures[0] ? batch->pictures[0] : "";
  const char *last = batch->count > 1 ? heed_last_name(first) : first;
  const size_t length = last > first ? (size_t)(last - first) - 1 : strlen(first);
  *name = malloc(length + 1);
  if (!*name) return heed_fail_memory(&cli->error, "clip", length);
  memcpy(*name, first, length);
  (*name)[length] = '\0';
  return HEED_OK;
}

uint32_t run_clip_frame(uint32_t index, uint32_t wanted, uint32_t there) {
  return wanted < 2 ? 0 : (uint32_t)((uint64_t)index * (there - 1) / (wanted - 1));
}

/* Copies the part of a frame that the model sees to its place among the time steps. */
static void put_step(heed_picture *all, const heed_picture *frame, const heed_region *seen,
                     uint32_t left, uint32_t top, uint32_t width, uint32_t height) {
  const int64_t x0 = (int64_t)(seen->x + 0.5), y0 = (int64_t)(seen->y + 0.5);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      const int64_t from_x = x0 + x, from_y = y0 + y;
      if (from_x < 0 || from_y < 0 || from_x >= frame->width || from_y >= frame->height) continue;
      memcpy(all->pixels + 3 * ((size_t)(top + y) * all->width + left + x),
             frame->pixels + 3 * ((size_t)from_y * frame->width + (size_t)from_x), 3);
    }
}

/* Room for the time steps' part of the frames, in rows of result->across. */
static heed_status make_sheet(cli_state *cli, run_result *result) {
  const heed_region *seen = &result->region;
  const uint32_t width = (uint32_t)(seen->width + 0.5), height = (uint32_t)(seen->height + 0.5);
  const uint64_t pixels = (uint64_t)width * height * result->frames;
  if (!width || !height || pixels > HEED_IMAGE_MAX_PIXELS)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: too many pixels (found %u frames of %u x %u, expected at most %u in all)",
                     result->picture, result->frames, width, height, HEED_IMAGE_MAX_PIXELS);
  return heed_picture_create(cli->context, result->picture, width * result->across,
                             height * (result->frames / result->across), &result->image,
                             &cli->error);
}

/* One frame: its pixel_values behind those before it and, of the first of a time step, its part of
 * the figure's picture. */
static heed_status add_frame(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, uint32_t index, heed_picture *frame,
                             run_result *result) {
  const heed_image view = heed_picture_view(frame);
  const uint32_t tubelet = pipeline->info.tubelet, step = index / tubelet;
  cli_prepared prepared = {0};
  CLI_TRY(cli_pipeline_prepare(cli, pipeline, &pipeline->preprocess, &view, result->picture,
                               options->size ? 0 : options->most_patches, &prepared));
  const size_t count = (size_t)pipeline->info.channels * prepared.width * prepared.height,
               frames = pipeline->info.frames;
  heed_status status = HEED_OK;
  if (index == 0) {
    result->batch_width = prepared.width;
    result->batch_height = prepared.height;
    result->region = result->seen = prepared.region;
    result->frame_width = frame->width;
    result->frame_height = frame->height;
    result->pixels = count <= SIZE_MAX / sizeof(float) / frames
                         ? malloc(count * frames * sizeof *result->pixels)
                         : NULL;
    status = result->pixels ? make_sheet(cli, result)
                            : heed_fail_memory(&cli->error, "frames", count * sizeof(float));
  } else if (frame->width != result->frame_width || frame->height != result->frame_height) {
    status = heed_fail(&cli->error, HEED_INVALID_FILE,
                       "%s: frames of different sizes (found %u x %u pixels, expected %u x %u)",
                       result->picture, frame->width, frame->height, result->frame_width,
                       result->frame_height);
  }
  if (status == HEED_OK)
    memcpy(result->pixels + index * count, prepared.pixels, count * sizeof *prepared.pixels);
  free(prepared.pixels);
  if (status == HEED_OK && index % tubelet == 0)
    status = heed_picture_show(cli->context, frame, &cli->error);
  if (status == HEED_OK && index % tubelet == 0) {
    const uint32_t width = result->image.width / result->across,
                   height = result->image.height / (result->frames / result->across);
    put_step(&result->image, frame, &prepared.region, step % result->across * width,
             step / result->across * height, width, height);
  }
  return status;
}

/* The number of frames of an animated picture. */
static heed_status count_frames(cli_state *cli, const cli_pipeline *pipeline,
                                const run_options *options, const char *path, uint32_t *count) {
  heed_picture first = {0};
  CLI_TRY(cli_pipeline_load_image(cli, pipeline, path, &options->limits, true, &first));
  *count = first.frames;
  heed_picture_free(cli->context, &first);
  return HEED_OK;
}

void run_set_across(run_result *result) {
  result->across = 1;
  while (result->across < result->frames &&
         (result->across * result->across < result->frames || result->frames % result->across))
    result->across++;
}

void run_cell(const run_result *result, uint32_t patch, uint32_t *row, uint32_t *column) {
  const uint32_t across = result->across ? result->across : 1,
                 of_frame = result->rows * result->columns, step = patch / of_frame;
  *row = step / across * result->rows + patch % of_frame / result->columns;
  *column = step % across * result->columns + patch % result->columns;
}

heed_status run_load_clip(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                          run_result *result) {
  const run_batch *clip = options->clip;
  const uint32_t wanted = pipeline->info.frames;
  uint32_t there = clip->count;
  heed_status status = HEED_OK;
  if (!clip->pictures[0])
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "frames: none (found no image, expected a folder of frames or an "
                     "animated image)");
  result->frames = wanted / pipeline->info.tubelet;
  run_set_across(result);
  if (clip->count == 1) CLI_TRY(count_frames(cli, pipeline, options, clip->pictures[0], &there));
  for (uint32_t i = 0; i < wanted && status == HEED_OK; i++) {
    const uint32_t at = run_clip_frame(i, wanted, there);
    heed_image_limits limits = options->limits;
    heed_picture frame = {0};
    if (clip->count == 1) limits.frame = at;
    status = cli_pipeline_load_image(cli, pipeline, clip->pictures[clip->count == 1 ? 0 : at],
                                     &limits, true, &frame);
    if (status == HEED_OK) status = add_frame(cli, pipeline, options, i, &frame, result);
    heed_picture_free(cli->context, &frame);
  }
  result->clip_frames = there;
  result->region = (heed_region){0, 0, result->image.width, result->image.height};
  return status;
}
