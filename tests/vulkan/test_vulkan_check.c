/* The self-check without memory: each of its last allocations fails once, with HEED_SOAK each of
 * them all. It fails with a status, or it finds and names what it finds with memory. */
#include <stdlib.h>
#include <string.h>

#include "gpu/self_check.h"
#include "vulkan/vulkan_test.h"

enum { LAST = 24 }; /* more than naming the kernel takes */

static void test_out_of_memory(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  heed_gpu_check_graph check;
  heed_gpu_check_record whole = {0};
  test_allocator allocator = {0, 0, 0};
  const heed_context_desc desc = test_context_desc(&allocator);
  assert_ok(heed_context_create(&desc, &context, &error));
  heed_vulkan_desc halves = HEED_VULKAN_DESC_INIT; /* whose kernels have names of their own */
  halves.precision = HEED_VULKAN_PRECISION_F16;
  assert_ok(heed_vulkan_backend_create(context, &halves, &backend, &error));
  assert_ok(heed_gpu_check_graph_create(context, HEED_GPU_CHECK_SMALL, &check, &error));
  /* twice: the backend keeps the kernels of the first time */
  assert_ok(heed_gpu_check_backend(&check, backend, true, &whole, &error));
  const size_t before = allocator.total;
  assert_ok(heed_gpu_check_backend(&check, backend, true, &whole, &error));
  const size_t count = allocator.total - before, live = allocator.live;
  if (!whole.passed || !strchr(whole.worst, '(') || count <= LAST)
    fail_msg("undisturbed: %s, %zu allocations", whole.worst, count);
  const size_t first = getenv("HEED_SOAK") ? 1 : count - LAST + 1;
  size_t refused = 0;
  for (size_t point = first; point <= count; point++) {
    heed_gpu_check_record record = {0};
    allocator.fail_at = allocator.total + point;
    const heed_status status = heed_gpu_check_backend(&check, backend, true, &record, &error);
    allocator.fail_at = 0;
    if (status == HEED_OK) {
      if (strcmp(record.worst, whole.worst) != 0 || record.max_error != whole.max_error)
        fail_msg("allocation %zu of %zu: found %s, expected %s", point, count, record.worst,
                 whole.worst);
    } else if (status != HEED_OUT_OF_MEMORY) {
      fail_msg("allocation %zu of %zu: %s (%s)", point, count, heed_status_name(status),
               error.message);
    }
    refused += status != HEED_OK;
    assert_int_equal(allocator.live, live);
  }
  print_message("%zu of %zu allocations failed once, %zu ended the check\n", count - first + 1,
                count, refused);
  assert_true(refused > 0);
  heed_gpu_check_graph_free(&check);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  assert_int_equal(allocator.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
