/* The pictures of a survey: files, then those of archives, then a list of files, then generated
 * scenes. */
#ifndef HEED_CLI_SURVEY_INPUTS_H
#define HEED_CLI_SURVEY_INPUTS_H

#include "list.h"
#include "session/scene_input.h"
#include "tars.h"
#include "terminal/picture_list.h"

typedef struct survey_inputs {
  picture_list files;
  survey_tars tars;
  survey_list list;
  size_t most_bytes; /* of a file in an archive; 0: heed's limit */
  uint32_t scenes, seed;
  uint32_t shard, shards;      /* from 1 */
  char hash[SHA256_TEXT_SIZE]; /* SHA-256 of all paths, a line each */
  uint8_t *done;               /* a bit a picture: it need not run again; NULL: none */
  uint64_t next;               /* of survey_inputs_next */
} survey_inputs;

typedef struct survey_inputs_desc {
  const char *const *words; /* files and folders, and archives by their names; then */
  uint32_t count;
  const char *tar;  /* an archive, or NULL; then */
  const char *list; /* a list, or NULL; then `scenes` of the inputs */
  uint64_t most;
  const char *written; /* a file that the list may not name, or NULL */
  bool quiet;
} survey_inputs_desc;
/* `most_bytes` to `shards` are set, and so is `deep` of the files. Statuses: those of
 * picture_list_make, survey_tars_add and survey_list_open. */
heed_status survey_inputs_make(cli_state *cli, const survey_inputs_desc *desc,
                               survey_inputs *inputs);
void survey_inputs_free(survey_inputs *inputs);

static inline uint64_t survey_inputs_count(const survey_inputs *inputs) {
  return inputs->files.count + inputs->tars.count + inputs->list.count + inputs->scenes;
}

/* A picture: a file, one of an archive, or a scene. */
typedef struct survey_item {
  uint64_t id; /* its place in all of them, from 0 */
  /* malloc'ed path and label; path of a scene: "scene:SEED". Bytes are those of an archive alone.
   */
  survey_member of;
  bool archived, scene;
  uint32_t seed;
} survey_item;
void survey_item_free(survey_item *item);
/* A picture by its path alone, as a store has it. Statuses: OUT_OF_MEMORY. */
heed_status survey_item_of_path(cli_state *cli, const char *path, size_t most_bytes,
                                survey_item *item);
/* A picture by its place. One thread at a time. Statuses: IO, OUT_OF_MEMORY. */
heed_status survey_inputs_get(cli_state *cli, survey_inputs *inputs, uint64_t id,
                              survey_item *item);
/* The next picture of this shard that is not done; *some: there is one. */
heed_status survey_inputs_next(cli_state *cli, survey_inputs *inputs, survey_item *item,
                               bool *some);
/* heed_image_limits.least_side for a model: twice what it resizes pictures to, so that resizing
 * still takes every pixel from several; 0 where the picture's own size tells. */
uint32_t survey_inputs_least_side(const heed_preprocess *preprocess);
/* Reads or draws a picture; twins: those of a scene. Several threads may. pipeline NULL: in colour.
 * Statuses: those of cli_pipeline_load_image. */
heed_status survey_item_load(cli_state *cli, const survey_item *item, const cli_pipeline *pipeline,
                             const heed_image_limits *limits, bool quiet, heed_picture *picture,
                             scene_twins *twins);
/* And fits it for the model. twins: present where the model's patches are those of the scene.
 * Statuses: those of cli_pipeline_prepare, too. */
heed_status survey_item_read(cli_state *cli, const survey_item *item, const cli_pipeline *pipeline,
                             const heed_image_limits *limits, bool quiet, uint32_t most_patches,
                             cli_prepared *prepared, scene_twins *twins);

#endif
