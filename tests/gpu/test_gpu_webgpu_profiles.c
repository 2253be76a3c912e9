/* What a standard says of attention, on a WebGPU device: masks, -Inf, NaN and empty rows. */
#include <stdio.h>

#include "heed/check.h"
#include "pipe_backend.h"
#include "support/test.h"

static void check(const char *profile) {
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  heed_profile_result result;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(pipe_backend_create(context, &(pipe_options){0}, &backend, &error));
  assert_ok(heed_check_profile(context, backend, profile, 0, NULL, NULL, &result, &error));
  print_message("%s: %u cases, %u passed, %u as stated\n", profile, result.cases, result.passed,
                result.stated);
  assert_true(result.cases > 0);
  assert_int_equal(result.passed + result.stated, result.cases);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
}

static void onnx(void **state) {
  (void)state;
  check("onnx");
}

int main(void) {
  char why[512];
  if (!pipe_backend_start(why, sizeof why)) {
    printf("skipped: %s\n", why);
    pipe_backend_stop();
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(onnx)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  pipe_backend_stop();
  return failed;
}
