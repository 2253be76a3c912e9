/* What all backends share. */
#include "backend/backend.h"

#include "base/status.h"

void heed_backend_destroy(heed_backend *backend) {
  if (backend) backend->vtable->destroy(backend);
}

const char *heed_backend_name(const heed_backend *backend) { return backend->vtable->name; }
const char *heed_backend_device(const heed_backend *backend) { return backend->device; }

heed_status heed_plan_create(heed_graph *graph, heed_backend *backend, const heed_plan_desc *desc,
                             heed_plan **plan, heed_error *error) {
  if (!graph || !backend || !plan)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "plan: NULL argument (expected graph, backend and plan)");
  *plan = NULL;
  return heed_plan_make(graph, backend, &backend->vtable->plan, desc, plan, error);
}
