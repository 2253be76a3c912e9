/* The pictures of a survey. See inputs.h. */
#define _POSIX_C_SOURCE 200809L
#include "inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session/scene_input.h"

#define SCENE_SIZE 24 /* "scene:" and a seed */

static size_t scene_name(uint64_t seed, char *scene) {
  return (size_t)snprintf(scene, SCENE_SIZE, "scene:%llu", (unsigned long long)seed);
}

heed_status survey_inputs_make(cli_state *cli, const survey_inputs_desc *desc,
                               survey_inputs *inputs) {
  sha256 hash;
  char scene[SCENE_SIZE];
  inputs->files.most = desc->most < UINT32_MAX ? (uint32_t)desc->most : UINT32_MAX;
  CLI_TRY(picture_list_make(cli, desc->words, desc->count, NULL, desc->quiet, &inputs->files));
  sha256_begin(&hash);
  for (uint32_t i = 0; i < inputs->files.count; i++) {
    sha256_add(&hash, inputs->files.path[i], strlen(inputs->files.path[i]));
    sha256_add(&hash, "\n", 1);
  }
  if (desc->list)
    CLI_TRY(survey_list_open(cli, desc->list, desc->most - inputs->files.count, desc->written,
                             &hash, &inputs->list));
  for (uint64_t i = 0; i < inputs->scenes; i++) {
    sha256_add(&hash, scene, scene_name(inputs->seed + i, scene));
    sha256_add(&hash, "\n", 1);
  }
  sha256_end(&hash, inputs->hash);
  return HEED_OK;
}

void survey_inputs_free(survey_inputs *inputs) {
  picture_list_free(&inputs->files);
  survey_list_close(&inputs->list);
  free(inputs->done);
  inputs->done = NULL;
}

void survey_item_free(survey_item *item) {
  free(item->path);
  free(item->label);
  *item = (survey_item){0};
}

heed_status survey_inputs_get(cli_state *cli, survey_inputs *inputs, uint64_t id,
                              survey_item *item) {
  const uint64_t files = inputs->files.count, listed = files + inputs->list.count;
  char line[HEED_PATH_SIZE];
  const char *path = line, *label = NULL;
  *item = (survey_item){.id = id, .scene = id >= listed};
  if (id < files) {
    path = inputs->files.path[id];
    label = inputs->files.label[id];
  } else if (item->scene) {
    item->seed = inputs->seed + (uint32_t)(id - listed);
    scene_name(item->seed, line);
  } else {
    CLI_TRY(survey_list_path(cli, &inputs->list, id - files, line));
  }
  item->path = strdup(path);
  item->label = label ? strdup(label) : NULL;
  return item->path && (item->label || !label)
             ? HEED_OK
             : heed_fail_memory(&cli->error, "images", strlen(path) + 1);
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

typedef struct scene_fit {
  cli_state *cli;
  const cli_pipeline *pipeline;
  const char *name;
  uint32_t most_patches;
  cli_prepared *prepared;
} scene_fit;

static heed_status fit_scene(void *user, const heed_image *image) {
  const scene_fit *fit = user;
  return cli_pipeline_prepare(fit->cli, fit->pipeline, &fit->pipeline->preprocess, image, fit->name,
                              fit->most_patches, fit->prepared);
}

uint32_t survey_inputs_least_side(const heed_preprocess *preprocess) {
  const uint32_t larger =
      preprocess->width > preprocess->height ? preprocess->width : preprocess->height;
  switch (preprocess->resize) {
    case HEED_RESIZE_SHORT_SIDE: return 2 * preprocess->short_side;
    case HEED_RESIZE_SQUASH:
    case HEED_RESIZE_WHOLE:
    case HEED_RESIZE_COVER:
    case HEED_RESIZE_CORNER: return 2 * larger;
    default: return 0;
  }
}

/* A pipe that nobody writes would hold the survey for ever. */
static heed_status check_regular(cli_state *cli, const char *path) {
  struct stat info;
  if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || S_ISREG(info.st_mode)) return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: not a file (found a %s, expected an image)",
                   path,
                   S_ISDIR(info.st_mode)    ? "folder"
                   : S_ISFIFO(info.st_mode) ? "pipe"
                                            : "device");
}

heed_status survey_item_read(cli_state *cli, const survey_item *item, const cli_pipeline *pipeline,
                             const heed_image_limits *limits, bool quiet, uint32_t most_patches,
                             cli_prepared *prepared) {
  if (item->scene) {
    scene_fit fit = {cli, pipeline, item->path, most_patches, prepared};
    return scene_input_each(cli, item->seed, 1, fit_scene, &fit);
  }
  heed_picture picture = {0};
  CLI_TRY(check_regular(cli, item->path));
  CLI_TRY(cli_pipeline_load_image(cli, pipeline, item->path, limits, quiet, &picture));
  const heed_image view = heed_picture_view(&picture);
  const heed_status status = cli_pipeline_prepare(cli, pipeline, &pipeline->preprocess, &view,
                                                  item->path, most_patches, prepared);
  heed_picture_free(cli->context, &picture);
  return status;
}
