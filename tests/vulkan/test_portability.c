/* A device as MoltenVK shows it, played by portability_loader.c: found, opened, and right. */
#include "vulkan/vulkan_test.h"

static void test_device_is_found(void **state) {
  (void)state;
  heed_error error;
  vulkan_program program;
  const heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, &desc, &error));
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_device_is_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
