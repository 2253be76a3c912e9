/* Sessions: a plan with its memory, ready to run as often as wanted. */
#include <string.h>

#include "backend/session.h"
#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"

static const heed_backend_vtable *backend_of(const heed_session *session) {
  return session->plan->backend->vtable;
}

/* Out of memory says what all of the session takes, not its last block alone. */
static heed_status say_need(const heed_plan *plan, heed_status status, heed_error *error) {
  heed_memory memory;
  if ((status != HEED_OUT_OF_MEMORY && status != HEED_OUT_OF_DEVICE_MEMORY) || !error)
    return status;
  const heed_error why = *error;
  heed_plan_memory(plan, &memory);
  return heed_fail(error, status,
                   "%s; the session needs %llu bytes in all (%llu of weights, which heed convert "
                   "makes smaller)",
                   why.message,
                   (unsigned long long)(memory.weights + memory.arena + memory.workspace),
                   (unsigned long long)memory.weights);
}

heed_status heed_session_create(heed_plan *plan, const heed_hooks *hooks, heed_session **session,
                                heed_error *error) {
  if (!plan || !session)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "session: NULL argument (expected plan and session)");
  *session = NULL;
  heed_hooks full = HEED_HOOKS_INIT;
  if (hooks) HEED_TRY(heed_desc_read(&full, sizeof full, hooks, "session: hooks", error));
  heed_session *made = heed_alloc(plan->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "session", sizeof *made);
  made->plan = plan;
  heed_status status = heed_backend_lock(plan->backend, "session", error);
  if (status == HEED_OK) {
    status = plan->backend->vtable->program_create(plan->backend, plan, hooks ? &full : NULL,
                                                   &made->program, error);
    heed_backend_unlock(plan->backend);
  }
  if (status != HEED_OK) {
    heed_free(plan->context, made);
    return say_need(plan, status, error);
  }
  *session = made;
  return HEED_OK;
}

void heed_session_destroy(heed_session *session) {
  if (!session) return;
  if (!heed_backend_is_forked(session->plan->backend))
    backend_of(session)->program_destroy(session->program);
  heed_free(session->plan->context, session);
}

const heed_graph *heed_session_graph(const heed_session *session) { return session->plan->graph; }
heed_backend *heed_session_backend(const heed_session *session) { return session->plan->backend; }

/* One call of the backend's, as the only one at a time. */
#define IN_TURN(backend, where, call)                       \
  do {                                                      \
    HEED_TRY(heed_backend_lock((backend), (where), error)); \
    const heed_status in_turn_ = (call);                    \
    heed_backend_unlock(backend);                           \
    return in_turn_;                                        \
  } while (0)

static heed_status want_idle(const heed_session *session, heed_error *error) {
  if (!session->in_flight) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "session: stream has runs in flight (found %u, expected 0)", session->in_flight);
}

static const char *name_of(const heed_value_record *record) {
  return record->name ? record->name : "value";
}

heed_status heed_session_write(heed_session *session, heed_value input, const void *data,
                               size_t bytes, heed_error *error) {
  const heed_plan *plan = session->plan;
  const heed_value_record *record = heed_graph_need(plan->graph, input, "write", error);
  if (!record) return HEED_INVALID_ARGUMENT;
  if (record->kind != HEED_VALUE_INPUT)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "write: %s is not an input (found a computed value or a constant)",
                     name_of(record));
  const uint64_t expected = heed_plan_bytes(plan, input.id);
  if (bytes != expected)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "write: %s: wrong size (found %zu bytes, expected %llu)", name_of(record),
                     bytes, (unsigned long long)expected);
  if (!plan->placement[input.id].live) return HEED_OK; /* nothing that runs reads it */
  HEED_TRY(want_idle(session, error));
  IN_TURN(plan->backend, "write",
          backend_of(session)->write(session->program, heed_plan_offset(plan, input.id), data,
                                     bytes, error));
}

heed_status heed_session_run(heed_session *session, const heed_hooks *hooks, heed_error *error) {
  heed_hooks full = HEED_HOOKS_INIT;
  if (hooks) HEED_TRY(heed_desc_read(&full, sizeof full, hooks, "run: hooks", error));
  HEED_TRY(want_idle(session, error));
  session->standing = 0;
  IN_TURN(session->plan->backend, "run",
          backend_of(session)->run(session->program, hooks ? &full : NULL, error));
}

bool heed_backend_can_stand(const heed_backend *backend) {
  return backend->vtable->run_part != NULL;
}

uint32_t heed_session_first_step(const heed_session *session, heed_value value) {
  const heed_plan *plan = session->plan;
  return plan->placement[heed_graph_root(plan->graph, value.id)].first;
}

static heed_status run_part(const heed_session *session, uint32_t *step, uint32_t end,
                            heed_error *error) {
  IN_TURN(session->plan->backend, "run",
          backend_of(session)->run_part(session->program, step, end, error));
}

heed_status heed_session_run_to(heed_session *session, uint32_t *step, uint32_t end,
                                heed_error *error) {
  session->standing = 0;
  HEED_TRY(want_idle(session, error));
  HEED_TRY(run_part(session, step, end, error));
  session->standing = *step;
  return HEED_OK;
}

heed_status heed_session_run_part(heed_session *session, uint32_t *step, heed_error *error) {
  if (!step || *step >= session->plan->step_count)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "run: step out of range (found %u, expected less than %u)", step ? *step : 0,
                     session->plan->step_count);
  HEED_TRY(want_idle(session, error));
  if (!backend_of(session)->run_part)
    return heed_fail(error, HEED_UNSUPPORTED, "run: the %s backend runs all steps at once",
                     backend_of(session)->name);
  session->standing = 0;
  HEED_TRY(run_part(session, step, session->plan->step_count, error));
  if (session->plan->passing_taps) session->standing = *step;
  return HEED_OK;
}

heed_status heed_session_profile(heed_session *session, const heed_clock *clock,
                                 heed_step_time *times, heed_error *error) {
  if (!clock || !clock->microseconds || !times)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "profile: NULL argument (expected clock and times)");
  HEED_TRY(want_idle(session, error));
  IN_TURN(session->plan->backend, "profile",
          backend_of(session)->profile(session->program, clock, times, error));
}

const float *heed_session_panels(const heed_session *session, heed_value constant,
                                 uint32_t *columns) {
  const heed_backend_vtable *backend = backend_of(session);
  return backend->panels ? backend->panels(session->program, constant.id, columns) : NULL;
}

/* Whether the last step of a run that stands read or made a value with this place. */
static bool is_standing(const heed_session *session, const heed_placement *root) {
  const uint32_t step = session->standing;
  return step && root->first < step && step - 1 <= root->last;
}

heed_status heed_session_want_kept(const heed_session *session, heed_value value,
                                   heed_error *error) {
  const heed_plan *plan = session->plan;
  const heed_value_record *record = heed_graph_need(plan->graph, value, "read", error);
  if (!record) return HEED_INVALID_ARGUMENT;
  const heed_placement *root = &plan->placement[heed_graph_root(plan->graph, value.id)];
  if (record->kind != HEED_VALUE_CONSTANT && root->live &&
      (root->kept || is_standing(session, root)))
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "read: %s not retained (expected an output or a tap)", name_of(record));
}

heed_status heed_session_read(heed_session *session, heed_value value, uint64_t first,
                              uint64_t count, void *to, heed_error *error) {
  HEED_TRY(want_idle(session, error));
  HEED_TRY(heed_session_want_kept(session, value, error));
  const heed_value_record *record = heed_graph_record(session->plan->graph, value.id);
  const uint64_t size = heed_dtype_size(record->dtype), elements = heed_shape_count(&record->shape);
  if (count > elements || first > elements - count)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "read: range exceeds %s (found %llu from %llu, expected within %llu)",
                     name_of(record), (unsigned long long)count, (unsigned long long)first,
                     (unsigned long long)elements);
  if (count == 0) return HEED_OK;
  IN_TURN(session->plan->backend, "read",
          backend_of(session)->read(session->program,
                                    heed_plan_offset(session->plan, value.id) + first * size, to,
                                    (size_t)(count * size), error));
}

heed_status heed_session_view(heed_session *session, heed_value value, const void **data,
                              heed_error *error) {
  *data = NULL;
  HEED_TRY(heed_session_want_kept(session, value, error));
  if (!backend_of(session)->view)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "view: %s results are in device memory (expected heed_session_read)",
                     backend_of(session)->name);
  *data = backend_of(session)->view(session->program, heed_plan_offset(session->plan, value.id));
  return HEED_OK;
}
