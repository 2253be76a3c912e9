/* What one picture adds to a survey, read from the maps of a run. */
#ifndef HEED_CLI_SURVEY_GATHER_H
#define HEED_CLI_SURVEY_GATHER_H

#include "session/pipeline.h"
#include "sums.h"

/* The shape of a survey of this model. Its grid is that of a square image as large as the model's;
 * where the model keeps the aspect of images, others have another. Statuses: INVALID_FILE. */
heed_status survey_shape_of(cli_state *cli, const cli_pipeline *pipeline, survey_shape *shape);
/* Reads all maps of picture 0 of the run. Statuses: INVALID_FILE (weights that are not numbers),
 * UNSUPPORTED (maps of other tokens than all), OUT_OF_MEMORY, DEVICE_*. */
heed_status survey_gather(cli_state *cli, const cli_pipeline *pipeline, const survey_shape *shape,
                          survey_numbers *numbers);
/* The class with the largest logit, or -1 where there are none; the lowest of equal ones. */
heed_status survey_top_class(cli_state *cli, const cli_pipeline *pipeline, int64_t *top);

#endif
