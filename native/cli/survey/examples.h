/* The pictures that a report shows: made small, and where each head looks in them. */
#ifndef HEED_CLI_SURVEY_EXAMPLES_H
#define HEED_CLI_SURVEY_EXAMPLES_H

#include "facts.h"
#include "session/pipeline.h"

#define SURVEY_EXAMPLE_SIDE 112 /* pixels of the longer side */

typedef struct survey_shot {
  uint8_t *rgb; /* [height, width, 3]: the part that the model sees, or NULL: it cannot be read */
  uint32_t width, height, rows, columns;
  /* [heads][2][rows * columns], or NULL: the largest weight that another patch gives to each,
   * and what the first token gives, where it is no patch */
  float *maps;
} survey_shot;

typedef struct survey_examples {
  survey_shot *shots; /* [facts->name_count] */
  size_t count;
} survey_examples;

typedef struct survey_examples_desc {
  const survey_facts *facts;
  const survey_shape *shape;
  const heed_image_limits *limits;
  cli_pipeline *pipeline; /* NULL: no maps, and whole pictures */
  cli_choice *choice;     /* of the pipeline */
} survey_examples_desc;

/* Runs the pictures of the facts once more. One that cannot be read stays without pixels. Free the
 * examples also when it fails. Statuses: OUT_OF_MEMORY, DEVICE_*. */
heed_status survey_examples_make(cli_state *cli, const survey_examples_desc *desc,
                                 survey_examples *examples);
void survey_examples_free(survey_examples *examples);

#endif
