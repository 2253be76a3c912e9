/* No message from Khronos validation, with synchronisation and GPU-assisted checks, over programs that have every kind of copy,
 * barrier and kernel. */
#include <stdio.h>
#include <string.h>

#include "vulkan/vulkan_test.h"

static void print_line(heed_log_level level, const char *line, void *user) {
  (void)user;
  if (level == HEED_LOG_WARNING) fprintf(stderr, "%s\n", line);
}

static void run_validated(bool staging) {
  heed_error error;
  vulkan_program program;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  heed_context_desc context = HEED_CONTEXT_DESC_INIT;
  context.log = print_line;
  desc.validate = HEED_VULKAN_VALIDATE_GPU;
  desc.force_staging = staging;
  vulkan_program_start(&program, &context);
  const heed_status status = vulkan_program_open(&program, &desc, &error);
  if (status == HEED_UNSUPPORTED) {
    fprintf(stderr, "skipped: %s\n", error.message);
    vulkan_program_end(&program);
    skip();
  }
  assert_int_equal(status, HEED_OK);
  for (int i = 0; i < 2; i++) assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  const uint32_t messages = heed_vulkan_message_count(program.backend);
  vulkan_program_end(&program);
  assert_int_equal(messages, 0);
}

static void test_mapped(void **state) {
  (void)state;
  vulkan_test_need_device();
  run_validated(false);
}

static void test_staging(void **state) {
  (void)state;
  vulkan_test_need_device();
  run_validated(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mapped), cmocka_unit_test(test_staging)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
