/* Case files run and compared. See shim.h. */
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
  web->out.check = (struct heed_web_out_check){.passed = result->passed,
                                               .max_abs = result->max_abs,
                                               .max_rel = result->max_rel,
                                               .op = HEED_WEB_ADDRESS(result->op),
                                               .worst = HEED_WEB_ADDRESS(result->worst),
                                               .rank = result->shape.rank};
  for (uint32_t i = 0; i < result->shape.rank; i++) web->out.check.shape[i] = result->shape.dim[i];
  return HEED_OK;
}

static char counts[16384];

heed_status heed_web_check_profile(heed_web *web, const char *profile, double tolerance) {
  heed_profile_result result;
  const heed_status status = heed_check_profile(web->context, web->backend, profile, tolerance,
                                                NULL, NULL, &result, &web->error);
  if (status != HEED_OK) return status;
  const size_t length =
      heed_profile_json(&result, heed_backend_device(web->backend), counts, sizeof counts);
  return length < sizeof counts ? HEED_OK : HEED_OUT_OF_MEMORY;
}

const char *heed_web_check_counts(void) { return counts; }
