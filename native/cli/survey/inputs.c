/* The pictures of a survey. See inputs.h. */
#define _POSIX_C_SOURCE 200809L
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

#include "files/os.h"
#include "session/scene_input.h"

#define SCENE_SIZE 24 /* "scene:" and a seed */

static size_t scene_name(uint64_t seed, char *scene) {
  return (size_t)snprintf(scene, SCENE_SIZE, "scene:%llu", (unsigned long long)seed);
}

/* The words that are no archives. */
static heed_status make_files(cli_state *cli, const survey_inputs_desc *desc, picture_list *files) {
  const char **words = calloc(desc->count + (size_t)1, sizeof *words);
  uint32_t count = 0;
  if (!words) return heed_fail_memory(&cli->error, "images", desc->count * sizeof *words);
  for (uint32_t i = 0; i < desc->count; i++)
    if (!survey_is_tar_name(desc->words[i])) words[count++] = desc->words[i];
  files->most = desc->most < UINT32_MAX ? (uint32_t)desc->most : UINT32_MAX;
  const heed_status status = picture_list_make(cli, words, count, NULL, desc->quiet, files);
  free(words);
  return status;
}

heed_status survey_inputs_make(cli_state *cli, const survey_inputs_desc *desc,
                               survey_inputs *inputs) {
  sha256 hash;
  char scene[SCENE_SIZE];
  CLI_TRY(make_files(cli, desc, &inputs->files));
  sha256_begin(&hash);
  for (uint32_t i = 0; i < inputs->files.count; i++) {
    sha256_add(&hash, inputs->files.path[i], strlen(inputs->files.path[i]));
    sha256_add(&hash, "\n", 1);
  }
  uint64_t left = desc->most - inputs->files.count;
  for (uint32_t i = 0; i < desc->count; i++)
    if (survey_is_tar_name(desc->words[i]))
      CLI_TRY(
          survey_tars_add(cli, desc->words[i], left - inputs->tars.count, &hash, &inputs->tars));
  if (desc->tar)
    CLI_TRY(survey_tars_add(cli, desc->tar, left - inputs->tars.count, &hash, &inputs->tars));
  left -= inputs->tars.count;
  if (desc->list)
    CLI_TRY(survey_list_open(cli, desc->list, left, desc->written, &hash, &inputs->list));
  for (uint64_t i = 0; i < inputs->scenes; i++) {
    sha256_add(&hash, scene, scene_name(inputs->seed + i, scene));
    sha256_add(&hash, "\n", 1);
  }
  sha256_end(&hash, inputs->hash);
  return HEED_OK;
}

void survey_inputs_free(survey_inputs *inputs) {
  picture_list_free(&inputs->files);
  survey_tars_close(&inputs->tars);
  survey_list_close(&inputs->list);
  free(inputs->done);
  inputs->done = NULL;
}

void survey_item_free(survey_item *item) {
  survey_member_free(&item->of);
  *item = (survey_item){0};
}

static heed_status set_texts(cli_state *cli, survey_item *item, const char *path,
                             const char *label) {
  item->of.path = strdup(path);
  item->of.label = label ? strdup(label) : NULL;
  return item->of.path && (item->of.label || !label)
             ? HEED_OK
             : heed_fail_memory(&cli->error, "images", strlen(path) + 1);
}

heed_status survey_item_of_path(cli_state *cli, const char *path, size_t most_bytes,
                                survey_item *item) {
  static const char scene[] = "scene:";
  *item = (survey_item){0};
  if (strncmp(path, scene, sizeof scene - 1) == 0 &&
      cli_read_number(path + sizeof scene - 1, UINT32_MAX, &item->seed)) {
    item->scene = true;
    return set_texts(cli, item, path, NULL);
  }
  CLI_TRY(survey_tar_find(cli, path, most_bytes, &item->of));
  item->archived = item->of.path != NULL;
  return item->archived ? HEED_OK : set_texts(cli, item, path, NULL);
}

heed_status survey_inputs_get(cli_state *cli, survey_inputs *inputs, uint64_t id,
                              survey_item *item) {
  const uint64_t files = inputs->files.count, archived = files + inputs->tars.count,
                 listed = archived + inputs->list.count;
  char line[HEED_PATH_SIZE];
  *item = (survey_item){.id = id, .archived = id >= files && id < archived, .scene = id >= listed};
  if (id < files) return set_texts(cli, item, inputs->files.path[id], inputs->files.label[id]);
  if (item->archived)
    return survey_tars_get(cli, &inputs->tars, id - files, inputs->most_bytes, &item->of);
  if (item->scene) {
    item->seed = inputs->seed + (uint32_t)(id - listed);
    scene_name(item->seed, line);
  } else {
    CLI_TRY(survey_list_path(cli, &inputs->list, id - archived, line));
  }
  return set_texts(cli, item, line, NULL);
}

heed_status survey_inputs_next(cli_state *cli, survey_inputs *inputs, survey_item *item,
                               bool *some) {
  const uint64_t count = survey_inputs_count(inputs);
  uint64_t id = inputs->next;
  while (id < count && (id % inputs->shards != inputs->shard - 1 ||
                        (inputs->done && inputs->done[id / 8] >> id % 8 & 1)))
    id++;
  inputs->next = id + 1;
  *some = id < count;
  return *some ? survey_inputs_get(cli, inputs, id, item) : HEED_OK;
}

uint32_t survey_inputs_least_side(const heed_preprocess *preprocess) {
  const uint32_t larger =
      preprocess->width > preprocess->height ? preprocess->width : preprocess->height;
  switch (preprocess->resize) {
    case HEED_RESIZE_SHORT_SIDE: return 2 * preprocess->short_side;
    case HEED_RESIZE_SQUASH:
    case HEED_RESIZE_WHOLE:
    case HEED_RESIZE_COVER:
    case HEED_RESIZE_CORNER:
    case HEED_RESIZE_CORNER_MEAN: return 2 * larger;
    default: return 0;
  }
}

/* A pipe that nobody writes would hold the survey for ever. */
static heed_status check_regular(cli_state *cli, const char *path) {
  heed_os_info info;
  if (strcmp(path, "-") == 0 || !heed_os_look(path, &info) || info.kind == HEED_OS_REGULAR)
    return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: not a file (found a %s, expected an image)",
                   path,
                   info.kind == HEED_OS_FOLDER ? "folder"
                   : info.kind == HEED_OS_PIPE ? "pipe"
                                               : "device");
}

static heed_status decode_member(cli_state *cli, const survey_member *of,
                                 const cli_pipeline *pipeline, const heed_image_limits *limits,
                                 heed_picture *picture) {
  if (of->why) return heed_fail(&cli->error, HEED_INVALID_FILE, "%s", of->why);
  return pipeline ? cli_pipeline_decode_image(cli, pipeline, of->path, of->bytes, of->size, limits,
                                              picture)
                  : heed_image_decode_within(cli->context, of->path, of->bytes, of->size, limits,
                                             picture, &cli->error);
}

heed_status survey_item_load(cli_state *cli, const survey_item *item, const cli_pipeline *pipeline,
                             const heed_image_limits *limits, bool quiet, heed_picture *picture,
                             scene_twins *twins) {
  const char *path = item->of.path;
  char seed[SCENE_SIZE];
  twins->present = false;
  if (item->archived) return decode_member(cli, &item->of, pipeline, limits, picture);
  if (item->scene) {
    snprintf(seed, sizeof seed, "%u", item->seed);
    return scene_input_picture(cli, seed, picture, twins);
  }
  CLI_TRY(check_regular(cli, path));
  return pipeline ? cli_pipeline_load_image(cli, pipeline, path, limits, quiet, picture)
                  : heed_image_load_within(cli->context, path, limits, picture, &cli->error);
}

/* Whether the model takes all of a scene, pixel by pixel, in patches of the scene's own size. */
static bool is_scene_grid(const cli_pipeline *pipeline, const cli_prepared *prepared) {
  const double side = HEED_SCENE_SIDE;
  const heed_region *of = &prepared->region;
  return pipeline->info.patch == HEED_SCENE_PATCH && prepared->width == HEED_SCENE_SIDE &&
         prepared->height == HEED_SCENE_SIDE && of->x == 0.0 && of->y == 0.0 && of->width == side &&
         of->height == side;
}

heed_status survey_item_read(cli_state *cli, const survey_item *item, const cli_pipeline *pipeline,
                             const heed_image_limits *limits, bool quiet, uint32_t most_patches,
                             cli_prepared *prepared, scene_twins *twins) {
  heed_picture picture = {0};
  CLI_TRY(survey_item_load(cli, item, pipeline, limits, quiet, &picture, twins));
  const heed_image view = heed_picture_view(&picture);
  const heed_status status = cli_pipeline_prepare(cli, pipeline, &pipeline->preprocess, &view,
                                                  item->of.path, most_patches, prepared);
  prepared->part = picture.part;
  twins->present = twins->present && twins->count[0] && twins->count[1] && status == HEED_OK &&
                   is_scene_grid(pipeline, prepared);
  heed_picture_free(cli->context, &picture);
  return status;
}
