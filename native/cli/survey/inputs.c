/* The pictures of a survey. See inputs.h. */
#include "inputs.h"

#include <string.h>

#include "session/scene_input.h"

const char *survey_inputs_path(const survey_inputs *inputs, uint64_t id,
                               char scene[SURVEY_SCENE_SIZE]) {
  if (id < inputs->files.count) return inputs->files.path[id];
  snprintf(scene, SURVEY_SCENE_SIZE, "scene:%llu",
           (unsigned long long)inputs->seed + id - inputs->files.count);
  return scene;
}

void survey_inputs_hash(const survey_inputs *inputs, char hash[SHA256_TEXT_SIZE]) {
  sha256 of;
  sha256_begin(&of);
  for (uint64_t id = 0; id < survey_inputs_count(inputs); id++) {
    char scene[SURVEY_SCENE_SIZE];
    const char *path = survey_inputs_path(inputs, id, scene);
    sha256_add(&of, path, strlen(path));
    sha256_add(&of, "\n", 1);
  }
  sha256_end(&of, hash);
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

heed_status survey_inputs_read(cli_state *cli, const survey_inputs *inputs,
                               const cli_pipeline *pipeline, const heed_image_limits *limits,
                               bool quiet, uint32_t most_patches, uint64_t id,
                               cli_prepared *prepared) {
  char scene[SURVEY_SCENE_SIZE];
  const char *path = survey_inputs_path(inputs, id, scene);
  if (id >= inputs->files.count) {
    scene_fit fit = {cli, pipeline, path, most_patches, prepared};
    return scene_input_each(cli, inputs->seed + (uint32_t)(id - inputs->files.count), 1, fit_scene,
                            &fit);
  }
  heed_picture picture = {0};
  CLI_TRY(cli_pipeline_load_image(cli, pipeline, path, limits, quiet, &picture));
  const heed_image view = heed_picture_view(&picture);
  const heed_status status = cli_pipeline_prepare(cli, pipeline, &pipeline->preprocess, &view, path,
                                                  most_patches, prepared);
  heed_picture_free(cli->context, &picture);
  return status;
}
