/* A build without MPI. See ranks.h. */
#include "ranks.h"

heed_status survey_ranks_begin(cli_state *cli, survey_ranks **ranks) {
  (void)cli;
  *ranks = NULL;
  return HEED_OK;
}

survey_rank survey_ranks_own(const survey_ranks *ranks) {
  (void)ranks;
  return (survey_rank){0, 1, 0};
}

int64_t survey_ranks_sum(survey_ranks *ranks, int64_t number) {
  (void)ranks;
  return number;
}

heed_status survey_ranks_share(cli_state *cli, survey_ranks *ranks, const uint8_t *done,
                               uint64_t count, uint64_t *todo) {
  (void)ranks;
  (void)done;
  *todo = count;
  return heed_fail(&cli->error, HEED_INTERNAL, "ranks: none");
}

bool survey_ranks_next(survey_ranks *ranks, uint64_t *picture) {
  (void)ranks;
  *picture = 0;
  return false;
}

void survey_ranks_meet(survey_ranks *ranks) { (void)ranks; }

void survey_ranks_end(survey_ranks *ranks, bool failed) {
  (void)ranks;
  (void)failed;
}
