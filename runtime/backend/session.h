/* What a session is, for those who run it in other ways. */
#ifndef HEED_BACKEND_SESSION_H
#define HEED_BACKEND_SESSION_H

#include "backend/backend.h"
#include "plan/plan.h"

struct heed_session {
  const heed_plan *plan;
  heed_program *program;
  /* runs of a stream that were not collected yet; the session itself must not run then */
  uint32_t in_flight;
  /* Of a run that stands: how many steps have run. What the last of them read and made is still
   * there and can be read. 0: none stands. */
  uint32_t standing;
};

/* Whether runs on this backend can stand after any step. */
bool heed_backend_can_stand(const heed_backend *backend);
/* The step that makes the value; 0 for an input. */
uint32_t heed_session_first_step(const heed_session *session, heed_value value);
/* Runs from *step to step `end`, of which it is no further away than the end of the stage, and
 * moves *step there. Statuses: as heed_session_run_part. */
heed_status heed_session_run_to(heed_session *session, uint32_t *step, uint32_t end,
                                heed_error *error);

/* A constant matrix [N, K] of the session as panels of floats, [ceil(N / columns)][K][columns], 0
 * past the last row; NULL where it is not kept so. */
const float *heed_session_panels(const heed_session *session, heed_value constant,
                                 uint32_t *columns);

/* Whether the value can be read after a run. */
heed_status heed_session_want_kept(const heed_session *session, heed_value value,
                                   heed_error *error);

#endif
