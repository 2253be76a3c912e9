/* heed_vulkan_self_check: the graph of gpu/self_check.h on a device, and the record of it in the
 * cache. */
#include "gpu/self_check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/status.h"
#include "vulkan/host/backend_state.h"

static bool is_half(const heed_backend *vulkan) {
  return ((const heed_vk_backend *)vulkan)->device.limits.half;
}

#define DAY ((int64_t)24 * 60 * 60)

/* A failure is tried again after a day, by whatever clock the machine has, and when asked. */
static bool is_settled(const heed_gpu_check_record *kept, bool again) {
  const int64_t age = (int64_t)time(NULL) - kept->time;
  return kept->passed || (!again && age >= 0 && age < DAY);
}

/* A result of an earlier run of the same graph by the same kernels on the same device and
 * driver. */
static bool remember(const heed_vk_cache *cache, const char *ending, bool again,
                     heed_gpu_check_record *record) {
  void *bytes;
  size_t size;
  heed_vk_cache_read(cache, ending, &bytes, &size);
  const heed_gpu_check_record *kept = bytes;
  const bool found =
      kept && size == sizeof *kept && kept->graph == record->graph && is_settled(kept, again);
  if (found) *record = *kept;
  heed_free(cache->context, bytes);
  record->worst[sizeof record->worst - 1] = '\0';
  return found;
}

static heed_status check_device(heed_context *context, heed_backend *vulkan, bool again,
                                heed_gpu_check_record *record, bool *remembered,
                                heed_error *error) {
  const heed_vk_cache *cache = &((heed_vk_backend *)vulkan)->cache;
  const char *ending = is_half(vulkan) ? "check16" : "check";
  heed_gpu_check_graph check;
  /* kernels for GPUs take a software device's compiler minutes in the sizes of models */
  const heed_gpu_limits *limits = &((heed_vk_backend *)vulkan)->device.limits;
  const heed_gpu_check_sizes sizes = !limits->software ? HEED_GPU_CHECK_GPU_MODELS
                                     : limits->cpu     ? HEED_GPU_CHECK_MODELS
                                                       : HEED_GPU_CHECK_SMALL;
  heed_status status = heed_gpu_check_graph_create(context, sizes, &check, error);
  if (status == HEED_OK) {
    record->graph = heed_gpu_check_hash(&check);
    *remembered = remember(cache, ending, again, record);
    if (!*remembered)
      status = heed_gpu_check_backend(&check, vulkan, is_half(vulkan), record, error);
    record->time = *remembered ? record->time : (int64_t)time(NULL);
    if (status == HEED_OK && !*remembered)
      heed_vk_cache_write(cache, ending, record, sizeof *record);
  }
  heed_gpu_check_graph_free(&check);
  return status;
}

heed_status heed_vulkan_self_check(heed_context *context, const heed_vulkan_desc *desc,
                                   heed_vulkan_check *check, heed_error *error) {
  if (!context || !check)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "self-check: NULL argument (expected context and result)");
  memset(check, 0, sizeof *check);
  heed_backend *vulkan;
  HEED_TRY(heed_vulkan_backend_create(context, desc, &vulkan, error));
  heed_gpu_check_record record;
  memset(&record, 0, sizeof record);
  const bool again = ((heed_vk_backend *)vulkan)->checks_again;
  const heed_status status =
      check_device(context, vulkan, again, &record, &check->remembered, error);
  check->passed = status == HEED_OK && record.passed;
  check->kernels = record.kernels;
  check->max_error = record.max_error;
  snprintf(check->worst, sizeof check->worst, "%s", record.worst);
  heed_backend_destroy(vulkan);
  return status;
}
