/* What all backends share. */
#include "backend/backend.h"

void heed_backend_destroy(heed_backend *backend) {
  if (backend) backend->vtable->destroy(backend);
}

const char *heed_backend_name(const heed_backend *backend) { return backend->vtable->name; }
const char *heed_backend_device(const heed_backend *backend) { return backend->device; }
