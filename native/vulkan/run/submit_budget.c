/* A slow device of the type, or a share of the measured peak. */
#include "vulkan/run/submit_budget.h"

#include "gpu/split_submissions.h"
#include "vulkan/measure/measured_peak.h"

#define SUBMIT_SECONDS 0.1
#define LEAST_SHARE 0.1 /* of the measured peak that a kernel reaches at worst */

uint64_t heed_vk_find_budget(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder) {
  heed_vk_device *device = pipelines->device;
  if (device->test.submit_flops || !device->splits_dispatches) return device->test.submit_flops;
  const double slow = device->info.type == HEED_VULKAN_DISCRETE ? 200.0 : 20.0; /* GFLOP/s */
  const uint64_t least = (uint64_t)(slow * 1e9 * SUBMIT_SECONDS);
  if (heed_gpu_count_flops(builder) <= least) return least;
  if (pipelines->gflops <= 0.0 &&
      heed_vk_measure_multiply(pipelines, &pipelines->gflops, NULL) != HEED_OK)
    return least;
  const uint64_t timed = (uint64_t)(pipelines->gflops * LEAST_SHARE * 1e9 * SUBMIT_SECONDS);
  return timed > least ? timed : least;
}
