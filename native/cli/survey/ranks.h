/* A survey of several processes that MPI started: rank 0 hands out ranges of pictures, each rank
 * has a file of its own, and rank 0 puts them together at the end. A build without MPI, and a
 * process that no launcher of MPI started, has no ranks. */
#ifndef HEED_CLI_SURVEY_RANKS_H
#define HEED_CLI_SURVEY_RANKS_H

#include "terminal/cli.h"

typedef struct survey_ranks survey_ranks;

typedef struct survey_rank {
  uint32_t rank, count;
  uint32_t local; /* among the ranks of this machine */
} survey_rank;

/* NULL: there is one process. Statuses: OUT_OF_MEMORY, UNSUPPORTED (an MPI without threads). */
heed_status survey_ranks_begin(cli_state *cli, survey_ranks **ranks);
survey_rank survey_ranks_own(const survey_ranks *ranks);
/* The sum of what all ranks pass. */
int64_t survey_ranks_sum(survey_ranks *ranks, int64_t number);
/* Rank 0 begins to hand out the pictures 0 .. count - 1 that no rank has done. done: a bit a
 * picture of this rank's, or NULL. *todo: of all ranks, known to rank 0. Statuses: OUT_OF_MEMORY.
 */
heed_status survey_ranks_share(cli_state *cli, survey_ranks *ranks, const uint8_t *done,
                               uint64_t count, uint64_t *todo);
/* The next picture of this rank; false: no more. One thread at a time. */
bool survey_ranks_next(survey_ranks *ranks, uint64_t *picture);
/* Waits until all ranks are here. */
void survey_ranks_meet(survey_ranks *ranks);
/* The end; NULL: nothing. failed: the other ranks get SIGTERM from their launcher. */
void survey_ranks_end(survey_ranks *ranks, bool failed);

#endif
