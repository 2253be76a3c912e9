/* Brings Vulkan to the op tests: linked beside one, it runs on the first device instead of the CPU.
 * With HEED_VULKAN_VALIDATE set in the environment all of it runs under validation, and a message
 * fails the program; with HEED_VULKAN_GPU_KERNELS it runs the kernels that a GPU would, with
 * HEED_VULKAN_FLOOR it keeps to the least that a device may have, with HEED_VULKAN_TIER to a tier
 * by its name, with HEED_VULKAN_SUBMIT_FLOPS to so many operations a submission, with
 * HEED_VULKAN_HALF factors of products are fp16; HEED_VULKAN_RANGE says how many bytes a binding
 * may have, HEED_VULKAN_TRUNCATES that fp16 is rounded toward zero, HEED_VULKAN_FILL how many
 * workgroups fill the device, so that small work is cut too, HEED_VULKAN_VENDOR whose tiles,
 * HEED_VULKAN_CHOICE the number of a tile that tuning tries, HEED_VULKAN_INTEGER_DOT whether there
 * are dot products of int8 (1: no, 2: also slow ones), HEED_VULKAN_KEEPS_STRIPS that matrices are
 * not reduced in registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/vulkan_test.h"
#include "support/op_test.h"

/* Sums in another order than the oracle's, and exp of the shader's own. */
#define TOLERANCE 1e-4
#define TOLERANCE_HALF 2e-3 /* factors of products in fp16 */

static heed_vulkan_validation validation(void) {
  const char *wanted = getenv("HEED_VULKAN_VALIDATE");
  if (!wanted) return HEED_VULKAN_VALIDATE_OFF;
  return strcmp(wanted, "sync") == 0 ? HEED_VULKAN_VALIDATE_SYNC : HEED_VULKAN_VALIDATE_GPU;
}
bool test_backend_is_half(void) { return getenv("HEED_VULKAN_HALF") != NULL; }
static bool plays_gpu(void) { return getenv("HEED_VULKAN_GPU_KERNELS") != NULL; }

static heed_status open_vulkan(heed_context *context, uint32_t index, heed_backend **backend,
                               heed_error *error) {
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  (void)index;
  desc.validate = validation();
  played.gpu_kernels = plays_gpu();
  desc.precision = test_backend_is_half() ? HEED_VULKAN_PRECISION_F16 : HEED_VULKAN_PRECISION_F32;
  const char *tier = getenv("HEED_VULKAN_TIER");
  for (int i = 0; tier && heed_vulkan_tier_name((heed_vulkan_tier)i); i++)
    if (strcmp(tier, heed_vulkan_tier_name((heed_vulkan_tier)i)) == 0)
      desc.tier = (heed_vulkan_tier)i;
  const char *flops = getenv("HEED_VULKAN_SUBMIT_FLOPS");
  if (flops) played.submit_flops = strtoull(flops, NULL, 10);
  const char *vendor = getenv("HEED_VULKAN_VENDOR");
  if (vendor) played.vendor = (uint32_t)strtoul(vendor, NULL, 16);
  const char *fill = getenv("HEED_VULKAN_FILL");
  if (fill) desc.fill = (uint32_t)strtoul(fill, NULL, 10);
  const char *dot = getenv("HEED_VULKAN_INTEGER_DOT");
  if (dot) played.integer_dot = (uint32_t)strtoul(dot, NULL, 10);
  const char *choice = getenv("HEED_VULKAN_CHOICE");
  if (choice) played.choice = (uint32_t)strtoul(choice, NULL, 10);
  const char *range = getenv("HEED_VULKAN_RANGE");
  if (range) played.range_limit = strtoull(range, NULL, 10);
  played.keeps_strips = getenv("HEED_VULKAN_KEEPS_STRIPS") != NULL;
  played.truncates = getenv("HEED_VULKAN_TRUNCATES") != NULL;
  played.floor = getenv("HEED_VULKAN_FLOOR") != NULL;
  return heed_vulkan_backend_create(context, &desc, backend, error);
}

void test_backend_add_more(void) {
  heed_error error;
  uint32_t count = 0;
  if (heed_vulkan_device_list(test_backend_context(), NULL, &count, &error) != HEED_OK) {
    printf("skipped: %s\n", error.message);
    exit(77); /* ctest's SKIP_RETURN_CODE */
  }
  /* a test of int8 compares sums of whole numbers, which no order changes */
  test_backend_add("vulkan", open_vulkan, 0,
                   test_backend_wants_int8() ? 0.0
                   : test_backend_is_half()  ? TOLERANCE_HALF
                                             : TOLERANCE);
}

bool test_backend_is_clean(const heed_backend *backend) {
  const uint32_t messages = heed_vulkan_message_count(backend);
  if (messages) printf("validation gave %u messages\n", messages);
  return messages == 0;
}

/* Each new shape compiles pipelines, on a software driver for a good part of a second; for longer
 * under validation, and where rows stay in registers. */
uint32_t test_backend_slowness(void) {
  return validation() == HEED_VULKAN_VALIDATE_GPU || plays_gpu() ? 30 : 5;
}
