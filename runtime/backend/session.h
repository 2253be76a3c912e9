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
};

/* Whether the value can be read after a run. */
heed_status heed_session_want_kept(const heed_session *session, heed_value value,
                                   heed_error *error);

#endif
