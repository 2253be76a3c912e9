/* What all backends share. */
#include "backend/backend.h"

#include "base/desc.h"
#include "base/status.h"
#include "base/system.h"

bool heed_backend_is_forked(const heed_backend *backend) {
  return backend->process && backend->process != heed_system_process();
}

void heed_backend_bind(heed_backend *backend) { backend->process = heed_system_process(); }

heed_status heed_backend_lock(heed_backend *backend, const char *where, heed_error *error) {
  const uintptr_t self = heed_system_thread();
  uintptr_t owner = 0;
  if (heed_backend_is_forked(backend))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: the %s backend belongs to another process (found a call after fork(), "
                     "expected a backend that the child makes)",
                     where, backend->vtable->name);
  if (atomic_load_explicit(&backend->owner, memory_order_relaxed) != self &&
      !atomic_compare_exchange_strong_explicit(&backend->owner, &owner, self, memory_order_acquire,
                                               memory_order_relaxed))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: the %s backend is in use (found a call of another thread, expected one "
                     "thread at a time)",
                     where, backend->vtable->name);
  backend->depth++;
  return HEED_OK;
}

void heed_backend_unlock(heed_backend *backend) {
  if (--backend->depth == 0) atomic_store_explicit(&backend->owner, 0, memory_order_release);
}

/* What a child of a fork cannot end, such as threads that are not there, stays as it is. */
void heed_backend_destroy(heed_backend *backend) {
  if (backend && !heed_backend_is_forked(backend)) backend->vtable->destroy(backend);
}

const char *heed_backend_name(const heed_backend *backend) { return backend->vtable->name; }
const char *heed_backend_device(const heed_backend *backend) { return backend->device; }
uint32_t heed_backend_threads(const heed_backend *backend) { return backend->threads; }

static heed_status refuse_passing(const heed_backend *backend, const heed_plan_desc *desc,
                                  heed_error *error) {
  heed_plan_desc full = HEED_PLAN_DESC_INIT;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "plan", error));
  return full.passing_taps ? heed_fail(error, HEED_UNSUPPORTED,
                                       "plan: the %s backend runs all stages at once (found taps "
                                       "that pass, expected taps that stay)",
                                       backend->vtable->name)
                           : HEED_OK;
}

heed_status heed_plan_create(heed_graph *graph, heed_backend *backend, const heed_plan_desc *desc,
                             heed_plan **plan, heed_error *error) {
  if (!graph || !backend || !plan)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "plan: NULL argument (expected graph, backend and plan)");
  *plan = NULL;
  if (desc && !backend->vtable->run_part) HEED_TRY(refuse_passing(backend, desc, error));
  HEED_TRY(heed_backend_lock(backend, "plan", error)); /* which may check the device first */
  const heed_status status =
      heed_plan_make(graph, backend, &backend->vtable->plan, desc, plan, error);
  heed_backend_unlock(backend);
  return status;
}
