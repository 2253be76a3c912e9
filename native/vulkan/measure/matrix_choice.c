/* Cooperative matrices by evidence. */
#include "vulkan/measure/matrix_choice.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "vulkan/measure/measured_peak.h"

#define ENDING "rates"
#define LEAST_GAIN 1.5

static bool remember(const heed_vk_cache *cache, heed_vk_rates *rates) {
  void *bytes;
  size_t size;
  heed_vk_cache_read(cache, ENDING, &bytes, &size);
  const bool found = bytes && size == sizeof *rates;
  if (found) memcpy(rates, bytes, size);
  heed_free(cache->context, bytes);
  return found;
}

/* Rates of 0 where they cannot be measured, as on a device without timestamps. */
static heed_status measure(heed_vk_backend *vulkan, heed_vk_rates *rates, heed_error *error) {
  heed_vk_pipelines pipelines;
  const uint32_t percent = vulkan->device.test.matrix_percent;
  *rates = (heed_vk_rates){100.0, (double)percent};
  heed_status status = HEED_OK;
  if (!percent) {
    status = heed_vk_pipelines_create(&vulkan->device, NULL, 0, &pipelines, error);
    if (status == HEED_OK) status = heed_vk_measure_rates(&pipelines, rates, error);
    heed_vk_pipelines_destroy(&pipelines);
  }
  if (status == HEED_DEVICE_LOST || status == HEED_OUT_OF_MEMORY) return status;
  if (status == HEED_OK)
    heed_vk_cache_write(&vulkan->cache, ENDING, rates, sizeof *rates);
  else
    *rates = (heed_vk_rates){0.0, 0.0};
  return HEED_OK;
}

heed_status heed_vk_choose_matrices(heed_vk_backend *vulkan, const heed_vulkan_desc *desc,
                                    heed_error *error) {
  heed_gpu_limits *limits = &vulkan->device.limits;
  const bool measured = !limits->software || vulkan->device.test.matrix_percent;
  heed_vk_rates rates;
  if (!limits->matrix.rows || desc->tier || !measured) return HEED_OK;
  if (!remember(&vulkan->cache, &rates)) HEED_TRY(measure(vulkan, &rates, error));
  heed_log(vulkan->base.context, HEED_LOG_INFO,
           "vulkan: cooperative matrices %.0f GFLOP/s, fp32 %.0f (expected %.1f times as many)",
           rates.matrix, rates.f32, LEAST_GAIN);
  if (rates.matrix > 0.0 && rates.matrix >= LEAST_GAIN * rates.f32) return HEED_OK;
  limits->tier = HEED_GPU_TIER_HALF;
  memset(&limits->matrix, 0, sizeof limits->matrix);
  memset(&limits->matrix8, 0, sizeof limits->matrix8);
  memset(&limits->matrix2, 0, sizeof limits->matrix2);
  limits->reduces = false;
  heed_vk_cache_close(&vulkan->cache); /* its files are named by the tier */
  return heed_vk_cache_open(&vulkan->cache, vulkan->base.context, desc->cache_directory,
                            &vulkan->device, error);
}
