/* heed bench --profile: where the time of a run goes, steps of one op, shape and work together. */
#ifndef HEED_CLI_SESSION_PROFILE_H
#define HEED_CLI_SESSION_PROFILE_H

#include "terminal/cli.h"
#include "terminal/json_out.h"

typedef struct cli_profile_row {
  heed_plan_step step; /* the first of its kind */
  uint32_t steps, dispatches;
  double microseconds; /* median of the runs */
} cli_profile_row;

typedef struct cli_profile {
  cli_profile_row *rows;
  uint32_t count;
  /* what the device does at best, measured beside the runs; 0 where nothing is known */
  double gflops, half_gflops, matrix_gflops, gbs;
} cli_profile;

double cli_milliseconds(void);                   /* the monotonic clock */
int cli_ascending(const void *a, const void *b); /* doubles, for qsort */

/* The kernels of a step, where its backend says which: "linear_half (half, 64 x 128)", joined by "
 * + "; and an array "kernels". */
void cli_kernels_print(const heed_plan_step *step);
void cli_kernels_json(const heed_plan_step *step, json_out *json);

/* Of heed_clock; user is not looked at. */
double cli_microseconds(void *user);
/* Runs the session `runs` times step by step on the backend, and measures what its device does at
 * best. Statuses: heed_session_profile's. */
heed_status cli_profile_take(cli_state *cli, heed_backend *backend, const heed_plan *plan,
                             heed_session *session, uint32_t runs, cli_profile *profile);
void cli_profile_release(cli_profile *profile);
void cli_profile_print(const cli_profile *profile);
/* An array "profile" of one object a row, and an object "ceiling" where there is one. */
void cli_profile_json(const cli_profile *profile, json_out *json);

#endif
