/* A machine without a driver, played by a driver file that does not exist: a sentence and
 * NO_DEVICE, nothing else. */
#include <string.h>

#include "heed/vulkan.h"
#include "support/test.h"

static void test_absent(void **state) {
  (void)state;
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  heed_vulkan_check check;
  uint32_t count = 7;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_fails(heed_vulkan_device_list(context, NULL, &count, &error), HEED_NO_DEVICE,
               "vulkan: no ");
  assert_int_equal(count, 0);
  assert_fails(heed_vulkan_backend_create(context, NULL, &backend, &error), HEED_NO_DEVICE,
               "vulkan: no ");
  assert_null(backend);
  assert_fails(heed_vulkan_self_check(context, NULL, &check, &error), HEED_NO_DEVICE,
               "vulkan: no ");
  assert_false(check.passed);
  heed_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
