/* No message from Khronos validation, with synchronisation and GPU-assisted checks, over programs
 * that have every kind of copy, barrier and kernel, weights in both precisions, and timestamps. */
#include <stdio.h>
#include <string.h>

#include "vulkan/vulkan_test.h"

static void print_line(heed_log_level level, const char *line, void *user) {
  (void)user;
  if (level == HEED_LOG_WARNING) fprintf(stderr, "%s\n", line);
}

static double no_time(void *user) {
  (void)user;
  return 0.0;
}

static void run_validated(bool staging, heed_vulkan_precision precision) {
  heed_error error;
  vulkan_program program;
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  heed_context_desc context = HEED_CONTEXT_DESC_INIT;
  context.log = print_line;
  desc.validate = HEED_VULKAN_VALIDATE_GPU;
  played.force_staging = staging;
  if (staging) played.submit_flops = 500; /* in many submissions */
  desc.precision = precision;
  vulkan_program_start(&program, &context);
  const heed_status status = vulkan_program_open(&program, &desc, &error);
  if (status == HEED_UNSUPPORTED) {
    fprintf(stderr, "skipped: %s\n", error.message);
    vulkan_program_end(&program);
    skip();
  }
  assert_int_equal(status, HEED_OK);
  for (int i = 0; i < 2; i++) assert_ok(vulkan_program_run(&program, NULL, &error));
  const heed_clock clock = {no_time, NULL};
  heed_step_time times[4];
  assert_ok(heed_session_profile(program.session, &clock, times, &error));
  vulkan_program_check(&program);
  const heed_stream_desc stream_desc = {sizeof stream_desc, 2, &program.x, 1, &program.z, 1};
  const void *const inputs[] = {program.input};
  void *const outputs[] = {program.z_found};
  heed_stream *stream;
  assert_ok(heed_stream_create(program.session, &stream_desc, &stream, &error));
  for (int i = 0; i < 2; i++) assert_ok(heed_stream_submit(stream, inputs, &error));
  for (int i = 0; i < 2; i++) assert_ok(heed_stream_collect(stream, outputs, &error));
  heed_stream_destroy(stream);
  heed_vulkan_ceiling ceiling;
  assert_ok(heed_vulkan_measure_ceiling(program.backend, &ceiling, &error));
  const uint32_t messages = heed_vulkan_message_count(program.backend);
  vulkan_program_end(&program);
  assert_int_equal(messages, 0);
}

static void test_mapped(void **state) {
  (void)state;
  vulkan_test_need_device();
  run_validated(false, HEED_VULKAN_PRECISION_F32);
}

static void test_staging(void **state) {
  (void)state;
  vulkan_test_need_device();
  run_validated(true, HEED_VULKAN_PRECISION_F16);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mapped), cmocka_unit_test(test_staging)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
