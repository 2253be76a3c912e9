/* The runtime object: context and CPU backend. See shim.h. */
#include <stdlib.h>

#include "shim.h"

heed_web *heed_web_create(uint32_t threads) {
  heed_web *web = heed_web_open();
  const heed_cpu_desc cpu = {sizeof cpu, threads, NULL};
  if (web && web->context &&
      heed_cpu_backend_create(web->context, &cpu, &web->backend, &web->error) != HEED_OK)
    web->backend = NULL; /* heed_web_status says it */
  return web;
}

void heed_web_destroy(heed_web *web) {
  heed_backend_destroy(web->backend);
  heed_context_destroy(web->context);
  free(web);
}

const char *heed_web_version(void) { return heed_version(); }
const char *heed_web_device(const heed_web *web) { return heed_backend_device(web->backend); }
