/* Pictures of a report. See examples.h. */
#include "examples.h"

#include <stdlib.h>
#include <string.h>

#include "inputs.h"

/* Mean of the samples of a box, one channel. */
static uint8_t mean_of_box(const heed_image *image, const double box[4], uint32_t channel) {
  const uint32_t left = (uint32_t)box[0], top = (uint32_t)box[1];
  uint32_t right = (uint32_t)box[2], bottom = (uint32_t)box[3];
  uint64_t sum = 0, count = 0;
  if (right <= left) right = left + 1;
  if (bottom <= top) bottom = top + 1;
  for (uint32_t y = top; y < bottom && y < image->height; y++)
    for (uint32_t x = left; x < right && x < image->width; x++, count++)
      sum += image->pixels[y * image->stride + x * 3u + channel];
  return (uint8_t)(count ? (sum + count / 2) / count : 0);
}

static heed_status make_small(cli_state *cli, const heed_image *image, const heed_region *region,
                              survey_shot *shot) {
  const double longer = region->width > region->height ? region->width : region->height,
               scale = longer / SURVEY_EXAMPLE_SIDE;
  shot->width = (uint32_t)(region->width / scale + 0.5);
  shot->height = (uint32_t)(region->height / scale + 0.5);
  if (!shot->width) shot->width = 1;
  if (!shot->height) shot->height = 1;
  shot->rgb = malloc((size_t)shot->width * shot->height * 3);
  if (!shot->rgb)
    return heed_fail_memory(&cli->error, "report", (size_t)shot->width * shot->height * 3);
  for (uint32_t y = 0; y < shot->height; y++)
    for (uint32_t x = 0; x < shot->width; x++) {
      const double box[4] = {region->x + region->width * x / shot->width,
                             region->y + region->height * y / shot->height,
                             region->x + region->width * (x + 1) / shot->width,
                             region->y + region->height * (y + 1) / shot->height};
      for (uint32_t c = 0; c < 3; c++)
        shot->rgb[((size_t)y * shot->width + x) * 3 + c] = mean_of_box(image, box, c);
    }
  return HEED_OK;
}

/* given [patches]: the largest weight that another patch gives. A mean would hide a large object
 * that is looked at from few patches. */
static void largest_of_patches(const float *map, uint32_t prefix, uint32_t patches, float *given) {
  const size_t tokens = prefix + (size_t)patches;
  for (uint32_t p = 0; p < patches; p++) {
    given[p] = 0.0f;
    for (uint32_t q = 0; q < patches; q++) {
      const float weight = map[(prefix + q) * tokens + prefix + p];
      if (q != p && weight > given[p]) given[p] = weight;
    }
  }
}

static heed_status read_maps(cli_state *cli, const survey_examples_desc *desc, survey_shot *shot) {
  const survey_shape *shape = desc->shape;
  const uint32_t patches = shot->rows * shot->columns;
  const size_t tokens = shape->prefix + (size_t)patches, size = survey_heads(shape) * 2 * patches;
  shot->maps = calloc(size + 1, sizeof *shot->maps);
  if (!shot->maps) return heed_fail_memory(&cli->error, "report", size * sizeof(float));
  for (uint32_t layer = 0; layer < shape->layers; layer++) {
    char name[HEED_TAP_NAME_SIZE];
    heed_shape found;
    float *maps;
    CLI_TRY(cli_pipeline_read(cli, desc->pipeline, heed_tap_name(HEED_TAP_WEIGHTS, layer, name),
                              &maps, &found));
    const bool whole = found.rank == 4 && found.dim[2] == tokens && found.dim[3] == tokens;
    for (uint32_t h = 0; whole && h < shape->heads; h++) {
      float *to = shot->maps + ((size_t)layer * shape->heads + h) * 2 * patches;
      largest_of_patches(maps + h * tokens * tokens, shape->prefix, patches, to);
      if (shape->prefix)
        memcpy(to + patches, maps + h * tokens * tokens + shape->prefix, patches * sizeof *to);
    }
    free(maps);
  }
  return HEED_OK;
}

static heed_status run(cli_state *cli, const survey_examples_desc *desc,
                       const cli_prepared *prepared, survey_shot *shot) {
  cli_pipeline *pipeline = desc->pipeline;
  if (pipeline->session &&
      (pipeline->build.height != prepared->height || pipeline->build.width != prepared->width))
    cli_pipeline_reset(pipeline);
  pipeline->build.height = prepared->height;
  pipeline->build.width = prepared->width;
  shot->rows = prepared->height / desc->shape->patch;
  shot->columns = prepared->width / desc->shape->patch;
  CLI_TRY(cli_pipeline_run(cli, pipeline, desc->choice, prepared->pixels));
  return read_maps(cli, desc, shot);
}

/* Pixels that the model sees, and its maps of them. */
static heed_status take(cli_state *cli, const survey_examples_desc *desc, const char *path,
                        heed_picture *picture, survey_shot *shot) {
  cli_pipeline *pipeline = desc->pipeline;
  cli_prepared prepared = {.region = {0.0, 0.0, picture->width, picture->height}};
  if (pipeline) {
    const heed_image whole = heed_picture_view(picture);
    CLI_TRY(cli_pipeline_prepare(cli, pipeline, &pipeline->preprocess, &whole, path, 0, &prepared));
  }
  heed_status status = heed_picture_show(cli->context, picture, &cli->error);
  if (status == HEED_OK) {
    const heed_image shown = heed_picture_view(picture);
    status = make_small(cli, &shown, &prepared.region, shot);
  }
  if (status == HEED_OK && pipeline) status = run(cli, desc, &prepared, shot);
  free(prepared.pixels);
  return status;
}

static heed_status load(cli_state *cli, const survey_examples_desc *desc, const char *path,
                        heed_picture *picture) {
  survey_item item;
  scene_twins twins;
  heed_status status = survey_item_of_path(cli, path, desc->limits->bytes, &item);
  if (status == HEED_OK)
    status = survey_item_load(cli, &item, desc->pipeline, desc->limits, true, picture, &twins);
  survey_item_free(&item);
  return status;
}

heed_status survey_examples_make(cli_state *cli, const survey_examples_desc *desc,
                                 survey_examples *examples) {
  const survey_facts *facts = desc->facts;
  *examples = (survey_examples){.shots = calloc(facts->name_count + 1, sizeof(survey_shot)),
                                .count = facts->name_count};
  if (!examples->shots)
    return heed_fail_memory(&cli->error, "report", facts->name_count * sizeof(survey_shot));
  for (size_t i = 0; i < facts->name_count; i++) {
    heed_picture picture = {0};
    const char *path = facts->names[i].path;
    heed_status status = load(cli, desc, path, &picture);
    if (status == HEED_OK) status = take(cli, desc, path, &picture, &examples->shots[i]);
    heed_picture_free(cli->context, &picture);
    /* it may have gone since it was surveyed: the report names it */
    if (status != HEED_OK && cli_exit_code(status) != CLI_BAD_FILE) return status;
  }
  return HEED_OK;
}

void survey_examples_free(survey_examples *examples) {
  for (size_t i = 0; i < examples->count && examples->shots; i++) {
    free(examples->shots[i].rgb);
    free(examples->shots[i].maps);
  }
  free(examples->shots);
  *examples = (survey_examples){0};
}
