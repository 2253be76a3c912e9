/* A survey that runs: what the verb asks for, and what it is made of. */
#ifndef HEED_CLI_SURVEY_JOB_H
#define HEED_CLI_SURVEY_JOB_H

#include "crew.h"
#include "outputs.h"
#include "ranks.h"
#include "store.h"
#include "taps.h"
#include "terminal/progress.h"

typedef struct survey_options {
  cli_choice choice;
  survey_outputs outputs;
  const char *model, *file, *list, *tar, *methods, *size, *out, *shard;
  uint32_t scenes, seed, most_images, commit;
  bool resume, strict, merge, compare, recursive, sums_only, whole_jpegs;
  heed_image_limits limits;
} survey_options;

typedef struct survey_job {
  cli_state *cli;
  survey_options *options;
  survey_inputs inputs;
  cli_pipeline pipeline;
  survey_identity identity;
  survey_sums sums;
  survey_taps taps;
  survey_extras extras;
  survey_facts facts;
  size_t by;                 /* the statistic of typical pictures */
  survey_ranks *ranks;       /* of MPI, or NULL */
  char part[HEED_PATH_SIZE]; /* of this rank; the survey's own path is `whole` then */
  const char *whole;
  survey_store *store; /* NULL: the results are printed alone */
  uint64_t todo;       /* pictures of this shard that are not there yet */
  int64_t failed;
  bool said_part;
  bool unstored; /* the file took a picture in part: it keeps its last commit */
  uint32_t uncommitted;
  double committed; /* seconds */
  cli_progress progress;
} survey_job;

/* Surveys the pictures of job->inputs, and prints the results. Statuses: IO, INVALID_ARGUMENT (the
 * file of the survey, other paths), INVALID_FILE (no picture can be read), those of a run. */
heed_status survey_run(survey_job *job);
/* With ranks: the file of this one takes the place of the whole survey's. Statuses: IO (a path too
 * long), INVALID_ARGUMENT (there is a whole survey). */
heed_status survey_ranked_begin(survey_job *job);
/* All ranks are done: rank 0 puts their files together, prints the results, and removes the parts.
 * Statuses: those of survey_merge. */
heed_status survey_ranked_finish(survey_job *job);
/* Frees all of it; the code of the program. */
int survey_end(survey_job *job, heed_status status);

#endif
