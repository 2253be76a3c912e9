/* What one picture adds to a survey, from the maps of a run. */
#ifndef HEED_CLI_SURVEY_GATHER_H
#define HEED_CLI_SURVEY_GATHER_H

#include "session/scene_input.h"
#include "sums.h"

/* The shape of a survey of this model. Its grid is that of a square image as large as the model's;
 * where the model keeps the aspect of images, others have another. Statuses: INVALID_FILE. */
heed_status survey_shape_of(cli_state *cli, const cli_pipeline *pipeline, survey_shape *shape);

/* The maps of a picture, and what it takes to read them; of one thread. {0} at first. */
typedef struct survey_maps {
  const float **layer; /* [layers][heads, tokens, tokens] */
  uint32_t rows, columns;
  int64_t top; /* the class with the largest logit, or -1; the lowest of equal ones */
  float *copies;
  size_t copied; /* floats there is room for */
  heed_map_scan *scan;
  uint32_t scanned_rows, scanned_columns;
  scene_twins twins; /* of the picture, where it is a scene; set by who reads it */
} survey_maps;
void survey_maps_free(survey_maps *maps);
/* Takes the maps of picture 0 of the run. They last until the next run; with `copy`, as long as
 * `maps`. Statuses: UNSUPPORTED (maps of other tokens than all), OUT_OF_MEMORY, DEVICE_*. */
heed_status survey_maps_take(cli_state *cli, const cli_pipeline *pipeline,
                             const survey_shape *shape, bool copy, survey_maps *maps);
/* Runs the model of a pipeline that is `passing` on a picture, and gathers each layer's numbers, of
 * maps and of states, as soon as it has run: memory has the maps of one layer. Statuses: those of a
 * run and of both below. */
heed_status survey_gather_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                              const survey_shape *shape, const cli_prepared *prepared,
                              survey_maps *maps, survey_numbers *numbers);
/* Numbers of maps that were taken. Statuses: INVALID_FILE (weights that are not numbers),
 * OUT_OF_MEMORY. */
heed_status survey_gather(cli_state *cli, const survey_shape *shape, survey_maps *maps,
                          survey_numbers *numbers);
/* The norms of its states, where the pipeline taps those of all layers. Statuses: OUT_OF_MEMORY,
 * DEVICE_*. */
heed_status survey_gather_states(cli_state *cli, const cli_pipeline *pipeline,
                                 const survey_shape *shape, survey_numbers *numbers);
/* The same layer by layer: what comes before the first, then layers whose states there are now,
 * from *layer on, which is moved. */
void survey_begin_states(const cli_pipeline *pipeline, const survey_shape *shape,
                         survey_numbers *numbers);
heed_status survey_pass_states(cli_state *cli, const cli_pipeline *pipeline,
                               const survey_shape *shape, uint32_t *layer, survey_numbers *numbers);

#endif
