/* heed-check.wasm and its like: case files run and compared on the kernels of the module that they
 * are named after. See shim.h. */
#include "shim.h"

static heed_status take(void *user, const char *name, heed_dtype dtype, const heed_shape *shape,
                        const void *data, heed_error *error) {
  (void)user;
  (void)error;
  heed_host_take(name, dtype, shape->rank, shape->dim, data);
  return HEED_OK;
}

heed_status heed_web_check(heed_web *web, const void *bytes, size_t size, double tolerance,
                           int results) {
  heed_check_result *result = &web->check;
  const heed_status status = heed_check_case(web->context, web->backend, bytes, size, tolerance,
                                             results ? take : NULL, NULL, result, &web->error);
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
