/* Kernels of int8, best first, until one is right. */
#include "vulkan/measure/int8_choice.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "gpu/self_check.h"

/* What may be chosen. */
typedef struct int8_record {
  uint32_t matrices, dots;
} int8_record;

/* Matrices are there in fp16 alone. */
static const char *ending_of(const heed_gpu_limits *limits) {
  return limits->half ? "int8half" : "int8";
}

static bool remember(const heed_vk_cache *cache, const char *ending, int8_record *record) {
  void *bytes;
  size_t size;
  heed_vk_cache_read(cache, ending, &bytes, &size);
  const bool found = bytes && size == sizeof *record;
  if (found) memcpy(record, bytes, size);
  heed_free(cache->context, bytes);
  return found;
}

static void restrict_to(heed_gpu_limits *limits, const int8_record *record) {
  if (!record->matrices) memset(&limits->matrix8, 0, sizeof limits->matrix8);
  if (!record->dots) limits->dot = false;
}

static heed_status check_kernel(heed_vk_backend *vulkan, bool *right, heed_error *error) {
  heed_gpu_check_graph check;
  heed_gpu_check_record record = {.passed = false};
  heed_status status =
      heed_gpu_check_graph_create_one(vulkan->base.context, HEED_OP_KIND_linear, &check, error);
  if (status == HEED_OK)
    status =
        heed_gpu_check_backend(&check, &vulkan->base, vulkan->device.limits.half, &record, error);
  heed_gpu_check_graph_free(&check);
  *right = status == HEED_OK && record.passed;
  return status == HEED_DEVICE_LOST || status == HEED_OUT_OF_MEMORY ? status : HEED_OK;
}

static heed_status choose(heed_vk_backend *vulkan, int8_record *record, heed_error *error) {
  heed_gpu_limits *limits = &vulkan->device.limits;
  uint32_t wrong = vulkan->device.test.wrong_int8;
  while (record->matrices || record->dots) {
    bool right;
    HEED_TRY(check_kernel(vulkan, &right, error));
    if (right && !wrong) return HEED_OK;
    if (wrong) wrong--;
    heed_log(vulkan->base.context, HEED_LOG_WARNING,
             "vulkan: products of int8 by %s are wrong on this device and are not used",
             record->matrices ? "cooperative matrices" : "dot products");
    *(record->matrices ? &record->matrices : &record->dots) = 0;
    restrict_to(limits, record);
  }
  return HEED_OK;
}

heed_status heed_vk_check_int8(heed_vk_backend *vulkan, heed_error *error) {
  heed_gpu_limits *limits = &vulkan->device.limits;
  int8_record record = {limits->matrix8.rows != 0, limits->dot};
  if (vulkan->int8_checked || !(record.matrices || record.dots)) return HEED_OK;
  vulkan->int8_checked = true; /* the check makes plans with such weights, too */
  if (remember(&vulkan->cache, ending_of(limits), &record)) {
    restrict_to(limits, &record);
    return HEED_OK;
  }
  HEED_TRY(choose(vulkan, &record, error));
  heed_vk_cache_write(&vulkan->cache, ending_of(limits), &record, sizeof record);
  return HEED_OK;
}
