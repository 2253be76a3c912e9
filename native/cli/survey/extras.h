/* What a survey gathers on request: mean maps of heed explain's methods, and embeddings. */
#ifndef HEED_CLI_SURVEY_EXTRAS_H
#define HEED_CLI_SURVEY_EXTRAS_H

#include "session/features.h"
#include "session/patch_maps.h"
#include "sums.h"

typedef struct survey_extras {
  uint32_t maps; /* as of survey_shape */
  char methods[CLI_METHODS_SIZE];
  bool embeds;
  cli_feature embedding;
  char source[128]; /* of the embedding: a graph's own name goes with it */
} survey_extras;

/* methods: names of heed_patch_map, or NULL. Statuses: INVALID_ARGUMENT. */
heed_status survey_extras_choose(cli_state *cli, const char *methods, bool embeds,
                                 survey_extras *extras);
/* Finds what the embedding of this model is, and sets shape->maps and ->embedding. The pipeline has
 * no session; extras stay where they are. Statuses: UNSUPPORTED (a graph has no methods), those of
 * a plan. */
heed_status survey_extras_find(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                               survey_extras *extras, survey_shape *shape);
/* Those of a picture that the pipeline has run. Statuses: those of heed_explain. */
heed_status survey_extras_gather(cli_state *cli, const survey_extras *extras,
                                 const cli_pipeline *pipeline, cli_choice *choice,
                                 const cli_prepared *prepared, const survey_shape *shape,
                                 survey_numbers *numbers);

#endif
