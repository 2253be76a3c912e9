/* The runtime object: context, CPU backend, checks and colour maps. See shim.h. */
#include <stdlib.h>

#include "shim.h"

heed_web *heed_web_create(uint32_t threads) {
  heed_web *web = heed_web_open();
  const heed_cpu_desc cpu = {sizeof cpu, threads, NULL};
  if (web && web->context) heed_cpu_backend_create(web->context, &cpu, &web->backend, &web->error);
  return web;
}

void heed_web_destroy(heed_web *web) {
  heed_backend_destroy(web->backend);
  heed_context_destroy(web->context);
  free(web);
}

const char *heed_web_version(void) { return heed_version(); }
const char *heed_web_device(const heed_web *web) { return heed_backend_device(web->backend); }

static heed_status take(void *user, const char *name, heed_dtype dtype, const heed_shape *shape, const void *data, heed_error *error) {
  (void)user;
  (void)error;
  heed_host_take(name, dtype, shape->rank, shape->dim, data);
  return HEED_OK;
}

heed_status heed_web_check(heed_web *web, const void *bytes, size_t size, double tolerance, int results) {
  heed_check_result *result = &web->check;
  const heed_status status = heed_check_case(web->context, web->backend, bytes, size, tolerance, results ? take : NULL, NULL, result, &web->error);
  if (status != HEED_OK) return status;
  web->out[0] = result->passed;
  web->out[1] = result->max_abs;
  web->out[2] = result->max_rel;
  web->out[3] = (double)(uintptr_t)result->op;
  web->out[4] = (double)(uintptr_t)result->worst;
  web->out[5] = result->shape.rank;
  for (uint32_t i = 0; i < result->shape.rank; i++) web->out[6 + i] = result->shape.dim[i];
  return HEED_OK;
}

void heed_web_colormap(heed_colormap map, uint8_t *rgb) {
  for (int i = 0; i < 256; i++) heed_colormap_rgb(map, i / 255.0, rgb + 3 * i);
}
