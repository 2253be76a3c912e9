/* A survey by ranks of MPI: a file each, and one in the end. See job.h. */
#include <stdlib.h>

#include "files/os.h"
#include "job.h"
#include "merge.h"

static heed_status part_path(cli_state *cli, const char *whole, uint32_t rank,
                             char path[HEED_PATH_SIZE]) {
  const int length = snprintf(path, HEED_PATH_SIZE, "%s.rank-%u", whole, rank);
  return length > 0 && length < HEED_PATH_SIZE
             ? HEED_OK
             : heed_fail(&cli->error, HEED_IO, "%.200s...: path too long", whole);
}

heed_status survey_ranked_begin(survey_job *job) {
  const survey_rank own = survey_ranks_own(job->ranks);
  job->whole = job->options->out;
  if (own.rank == 0 && heed_os_is_there(job->whole))
    return heed_fail(&job->cli->error, HEED_INVALID_ARGUMENT,
                     "%s: there is a file (expected a new one; --resume goes on with the parts of "
                     "the ranks)",
                     job->whole);
  CLI_TRY(part_path(job->cli, job->whole, own.rank, job->part));
  job->options->out = job->part;
  if (own.rank != 0) job->options->choice.quiet = true;
  return HEED_OK;
}

static heed_status put_together(survey_job *job, char (*paths)[HEED_PATH_SIZE],
                                const char **parts) {
  const uint32_t count = survey_ranks_own(job->ranks).count;
  for (uint32_t i = 0; i < count; i++) {
    CLI_TRY(part_path(job->cli, job->whole, i, paths[i]));
    parts[i] = paths[i];
  }
  const survey_merge_desc desc = {parts,
                                  count,
                                  job->whole,
                                  &job->options->outputs,
                                  &job->options->limits,
                                  job->options->choice.quiet};
  CLI_TRY(survey_merge(job->cli, &desc));
  for (uint32_t i = 0; i < count; i++) heed_os_remove(parts[i]);
  return HEED_OK;
}

heed_status survey_ranked_finish(survey_job *job) {
  const survey_rank own = survey_ranks_own(job->ranks);
  survey_ranks_meet(job->ranks);
  const int64_t failed = survey_ranks_sum(job->ranks, job->failed);
  job->failed = own.rank == 0 ? failed : 0; /* rank 0 says it */
  if (own.rank != 0) return HEED_OK;
  char(*paths)[HEED_PATH_SIZE] = calloc(own.count, sizeof *paths);
  const char **parts = calloc(own.count, sizeof *parts);
  const heed_status status =
      paths && parts ? put_together(job, paths, parts)
                     : heed_fail_memory(&job->cli->error, "ranks", own.count * sizeof *paths);
  free(paths);
  free(parts);
  return status;
}
