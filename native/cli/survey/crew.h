/* Pictures that run side by side: each worker takes one, reads it, runs the model on it and gathers
 * its numbers; they come out in order. On the CPU there are as many sessions as threads, of one
 * thread each, where memory allows it: they share the weights, and wait for nothing. */
#ifndef HEED_CLI_SURVEY_CREW_H
#define HEED_CLI_SURVEY_CREW_H

#include "extras.h"
#include "gather.h"
#include "inputs.h"

/* What all sessions but the first take together at most. */
#define SURVEY_SESSION_BYTES (UINT64_C(96) << 20)

typedef struct survey_crew_desc {
  cli_pipeline *pipeline; /* whose model runs; it has no session while there is a crew */
  cli_choice *choice;
  const survey_shape *shape;
  const survey_extras *extras;
  uint64_t count; /* of pictures, about: there are no more sessions than that */
  void *user;
  /* The next picture; *some: there is one. One thread at a time calls it. */
  heed_status (*next)(cli_state *cli, void *user, survey_item *item, bool *some);
  /* Reads it; twins: those of a scene. Several threads do. */
  heed_status (*read)(cli_state *cli, void *user, const survey_item *item, cli_prepared *prepared,
                      scene_twins *twins);
} survey_crew_desc;

/* What came of a picture. */
typedef struct survey_worked {
  bool done, bad; /* bad: the picture could not be read; else its list or its run failed */
  heed_status status;
  heed_error error;
  survey_item item;
  uint32_t width, height; /* of pixel_values */
  uint32_t part;          /* of heed_picture */
  int64_t top;
  survey_numbers numbers;
} survey_worked;

typedef struct survey_crew survey_crew;
/* Borrows desc's things. Statuses: OUT_OF_MEMORY, those of opening a backend. */
heed_status survey_crew_begin(cli_state *cli, const survey_crew_desc *desc, survey_crew **crew);
/* The next picture, valid until the next call; NULL: there was no more. */
const survey_worked *survey_crew_take(survey_crew *crew);
/* Waits for what runs; NULL: nothing. */
void survey_crew_end(survey_crew *crew);

#endif
