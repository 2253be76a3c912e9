/* What is kept between runs, in a directory of the caller's: compiled pipelines and the
 * self-check's result. A file is named by device, driver, tier and limits, so that what was kept
 * for other kernels says nothing about these; it has a header of its own with a hash, and is
 * ignored when anything about it is off. Writing never fails a run. */
#ifndef HEED_VULKAN_HOST_CACHE_H
#define HEED_VULKAN_HOST_CACHE_H

#include "vulkan/host/pipeline.h"

/* Who made a file: everything must be equal for it to be used. */
typedef struct heed_vk_cache_key {
  uint32_t vendor, device, driver_version, lanes, cpu, tier;
  uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE], pipeline_uuid[VK_UUID_SIZE];
  uint64_t limits; /* hash of the rest that kernels are chosen by, precision aside */
  uint64_t build;  /* hash of version and shaders */
} heed_vk_cache_key;

typedef struct heed_vk_cache {
  const heed_context *context;
  char *directory; /* NULL: nothing is kept */
  heed_vk_cache_key key;
} heed_vk_cache;

heed_status heed_vk_cache_open(heed_vk_cache *cache, const heed_context *context,
                               const char *directory, const heed_vk_device *device,
                               heed_error *error);
void heed_vk_cache_close(heed_vk_cache *cache);

/* *bytes NULL when there is nothing usable; else free with heed_free. */
void heed_vk_cache_load(const heed_vk_cache *cache, void **bytes, size_t *size);
void heed_vk_cache_save(const heed_vk_cache *cache, const heed_vk_pipelines *pipelines);

/* One file of the cache, by the ending of its name. */
void heed_vk_cache_read(const heed_vk_cache *cache, const char *ending, void **bytes, size_t *size);
void heed_vk_cache_write(const heed_vk_cache *cache, const char *ending, const void *bytes,
                         size_t size);

#endif
