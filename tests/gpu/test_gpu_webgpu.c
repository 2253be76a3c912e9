/* The shaders' WGSL on a WebGPU device: the self-check's graph, every op of it, against the CPU.
 * The device is Dawn's in a Node process (pipe_host.mjs). */
#include <stdio.h>

#include "gpu/self_check.h"
#include "pipe_backend.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;

static void check(const pipe_options *options) {
  heed_gpu_check_graph graph;
  heed_gpu_check_record record = {0};
  heed_backend *backend;
  const unsigned long before = pipe_backend_dispatches();
  assert_ok(heed_gpu_check_graph_create(context, HEED_GPU_CHECK_SMALL, &graph, &error));
  assert_ok(pipe_backend_create(context, options, &backend, &error));
  assert_ok(heed_gpu_check_backend(&graph, backend, options->half, &record, &error));
  print_message("%lu dispatches, largest error %.3g (%s)\n", pipe_backend_dispatches() - before,
                record.max_error, record.worst);
  assert_true(record.passed);
  heed_backend_destroy(backend);
  heed_gpu_check_graph_free(&graph);
}

static void floor_is_right(void **state) {
  (void)state;
  check(&(pipe_options){0});
}

static void unrolled_loops_are_right(void **state) {
  (void)state;
  check(&(pipe_options){.unrolled = true});
}

static void fp16_is_right(void **state) {
  (void)state;
  check(&(pipe_options){.half = true});
}

static void dot_products_are_right(void **state) {
  (void)state;
  check(&(pipe_options){.dot = true});
}

static void subgroups_are_right(void **state) {
  (void)state;
  if (!pipe_backend_has_subgroups()) skip();
  check(&(pipe_options){.subgroups = true});
}

int main(void) {
  char why[512];
  if (!pipe_backend_start(why, sizeof why)) {
    printf("skipped: %s\n", why);
    pipe_backend_stop();
    return 77;
  }
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floor_is_right),      cmocka_unit_test(unrolled_loops_are_right),
      cmocka_unit_test(fp16_is_right),       cmocka_unit_test(dot_products_are_right),
      cmocka_unit_test(subgroups_are_right),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  heed_context_destroy(context);
  pipe_backend_stop();
  return failed;
}
