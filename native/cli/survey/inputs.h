/* The pictures of a survey: files, then generated scenes. */
#ifndef HEED_CLI_SURVEY_INPUTS_H
#define HEED_CLI_SURVEY_INPUTS_H

#include "session/pipeline.h"
#include "session/sha256.h"
#include "terminal/picture_list.h"

typedef struct survey_inputs {
  picture_list files;
  uint32_t scenes, seed;
  uint32_t shard, shards; /* from 1 */
} survey_inputs;

static inline uint64_t survey_inputs_count(const survey_inputs *inputs) {
  return (uint64_t)inputs->files.count + inputs->scenes;
}
/* Whether a picture is one of this shard. */
static inline bool survey_inputs_own(const survey_inputs *inputs, uint64_t id) {
  return id % inputs->shards == inputs->shard - 1;
}
#define SURVEY_SCENE_SIZE 24 /* "scene:" and a seed */
/* The file, or the scene's name in `scene`. */
const char *survey_inputs_path(const survey_inputs *inputs, uint64_t id,
                               char scene[SURVEY_SCENE_SIZE]);
/* SHA-256 of all paths, a line each. */
void survey_inputs_hash(const survey_inputs *inputs, char hash[SHA256_TEXT_SIZE]);
/* Reads or draws a picture, and fits it for the model. Statuses: those of cli_pipeline_load_image
 * and cli_pipeline_prepare. */
heed_status survey_inputs_read(cli_state *cli, const survey_inputs *inputs,
                               const cli_pipeline *pipeline, const heed_image_limits *limits,
                               bool quiet, uint32_t most_patches, uint64_t id,
                               cli_prepared *prepared);

#endif
