/* The pictures of a survey: files, then a list of them, then generated scenes. */
#ifndef HEED_CLI_SURVEY_INPUTS_H
#define HEED_CLI_SURVEY_INPUTS_H

#include "list.h"
#include "session/pipeline.h"
#include "terminal/picture_list.h"

typedef struct survey_inputs {
  picture_list files;
  survey_list list;
  uint32_t scenes, seed;
  uint32_t shard, shards;      /* from 1 */
  char hash[SHA256_TEXT_SIZE]; /* SHA-256 of all paths, a line each */
  uint8_t *done;               /* a bit a picture: it need not run again; NULL: none */
  uint64_t next;               /* of survey_inputs_next */
} survey_inputs;

typedef struct survey_inputs_desc {
  const char *const *words; /* files and folders; then */
  uint32_t count;
  const char *list; /* a list, or NULL; then `scenes` of the inputs */
  uint64_t most;
  const char *written; /* a file that the list may not name, or NULL */
  bool quiet;
} survey_inputs_desc;
/* `scenes` to `shards` are set, and so is `deep` of the files. Statuses: those of picture_list_make
 * and survey_list_open. */
heed_status survey_inputs_make(cli_state *cli, const survey_inputs_desc *desc,
                               survey_inputs *inputs);
void survey_inputs_free(survey_inputs *inputs);

static inline uint64_t survey_inputs_count(const survey_inputs *inputs) {
  return (uint64_t)inputs->files.count + inputs->list.count + inputs->scenes;
}

/* A picture: a file or a scene. */
typedef struct survey_item {
  uint64_t id;        /* its place in all of them, from 0 */
  char *path, *label; /* malloc'ed; path of a scene: "scene:SEED"; label: NULL where it has none */
  bool scene;
  uint32_t seed;
} survey_item;
void survey_item_free(survey_item *item);
/* A picture by its place. One thread at a time. Statuses: IO, OUT_OF_MEMORY. */
heed_status survey_inputs_get(cli_state *cli, survey_inputs *inputs, uint64_t id,
                              survey_item *item);
/* The next picture of this shard that is not done; *some: there is one. */
heed_status survey_inputs_next(cli_state *cli, survey_inputs *inputs, survey_item *item,
                               bool *some);
/* heed_image_limits.least_side for a model: twice what it resizes pictures to, so that resizing
 * still takes every pixel from several; 0 where the picture's own size tells. */
uint32_t survey_inputs_least_side(const heed_preprocess *preprocess);
/* Reads or draws a picture, and fits it for the model. Several threads may. Statuses: those of
 * cli_pipeline_load_image and cli_pipeline_prepare. */
heed_status survey_item_read(cli_state *cli, const survey_item *item, const cli_pipeline *pipeline,
                             const heed_image_limits *limits, bool quiet, uint32_t most_patches,
                             cli_prepared *prepared);

#endif
