/* Brings Vulkan to the op tests: linked beside one, it runs on the first device too, with its memory as it is and through staging. */
#include <stdio.h>

#include "heed/vulkan.h"
#include "support/op_test.h"

/* Sums in another order than the oracle's, and exp of the shader's own. */
#define TOLERANCE 1e-4

static heed_status open_vulkan(heed_context *context, uint32_t index, heed_backend **backend, heed_error *error) {
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.force_staging = index == 1;
  return heed_vulkan_backend_create(context, &desc, backend, error);
}

void test_backend_add_more(void) {
  heed_error error;
  uint32_t count = 0;
  if (heed_vulkan_device_list(test_backend_context(), NULL, &count, &error) != HEED_OK) {
    fprintf(stderr, "Vulkan left out: %s\n", error.message);
    return;
  }
  test_backend_add("vulkan", open_vulkan, 0, TOLERANCE);
  test_backend_add("vulkan, staging", open_vulkan, 1, TOLERANCE);
}
