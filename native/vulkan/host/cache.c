/* Files beside each other: heed-<device>.pipelines, heed-<device>.check. Header, then the bytes.
 * Written under another name and renamed, so that a reader sees the old file or the new one. */
#include "vulkan/host/cache.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "gpu/hash.h"
#include "vulkan/host/cache_file.h"
#include "vulkan/host/cache_format.h"
#include "vulkan/host/shader_code.h"

_Static_assert(sizeof(heed_vk_cache_key) <= HEED_VK_CACHE_KEY_MOST, "a key fits its buffer");

#define PATH_SIZE 1024
#define SUFFIX_SIZE 32

static uint64_t build_hash(void) {
  uint64_t hash = heed_gpu_hash(HEED_GPU_HASH_START, HEED_VERSION, sizeof HEED_VERSION);
  for (uint32_t shader = 0; shader < HEED_SHADER_COUNT; shader++) {
    size_t bytes;
    const uint32_t *words = heed_vk_shader_code((heed_gpu_shader)shader, &bytes);
    hash = heed_gpu_hash(hash, words, bytes);
  }
  return hash;
}

/* mkdir -p; a directory that cannot be made shows when a file is written. */
static void make_directories(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    heed_vk_cache_folder_make(path);
    *at = '/';
  }
  heed_vk_cache_folder_make(path);
}

/* What a caller can force, beside the tier. */
static uint64_t limits_hash(const heed_gpu_limits *limits) {
  const uint32_t forced[] = {limits->vendor,   limits->invocations, limits->shared,
                             limits->bindings, limits->fill,        limits->dot};
  return heed_gpu_hash(heed_gpu_hash(HEED_GPU_HASH_START, forced, sizeof forced), &limits->range,
                       sizeof limits->range);
}

heed_status heed_vk_cache_open(heed_vk_cache *cache, const heed_context *context,
                               const char *directory, const heed_vk_device *device,
                               heed_error *error) {
  memset(cache, 0, sizeof *cache);
  cache->context = context;
  cache->key.vendor = device->info.vendor_id;
  cache->key.device = device->info.device_id;
  cache->key.driver_version = device->driver_version;
  cache->key.lanes = device->limits.lanes;
  cache->key.cpu = device->limits.cpu;
  cache->key.tier = device->limits.tier;
  cache->key.limits = limits_hash(&device->limits);
  memcpy(cache->key.device_uuid, device->info.device_uuid, VK_UUID_SIZE);
  memcpy(cache->key.driver_uuid, device->info.driver_uuid, VK_UUID_SIZE);
  memcpy(cache->key.pipeline_uuid, device->pipeline_cache_uuid, VK_UUID_SIZE);
  cache->key.build = build_hash();
  if (!directory || !directory[0]) return HEED_OK;
  cache->directory = heed_copy_string(context, directory, strlen(directory));
  if (!cache->directory)
    return heed_fail_memory(error, "vulkan: cache directory", strlen(directory) + 1);
  make_directories(cache->directory);
  return HEED_OK;
}

void heed_vk_cache_close(heed_vk_cache *cache) {
  if (cache->context) heed_free(cache->context, cache->directory);
  cache->directory = NULL;
}

/* One file a device, driver and choice of kernels: others do not push it out. */
static bool file_path(const heed_vk_cache *cache, const char *ending, char path[PATH_SIZE]) {
  if (!cache->directory) return false;
  const heed_vk_cache_key *key = &cache->key;
  uint64_t name = heed_gpu_hash(HEED_GPU_HASH_START, key->device_uuid, VK_UUID_SIZE);
  name = heed_gpu_hash(name, key->driver_uuid, VK_UUID_SIZE);
  const uint64_t kernels[] = {key->cpu, key->tier, key->limits};
  name = heed_gpu_hash(name, kernels, sizeof kernels);
  const int length = snprintf(path, PATH_SIZE, "%s/heed-%04x-%04x-%016llx.%s", cache->directory,
                              key->vendor, key->device, (unsigned long long)name, ending);
  return length > 0 && length < PATH_SIZE - SUFFIX_SIZE;
}

void heed_vk_cache_read(const heed_vk_cache *cache, const char *ending, void **bytes,
                        size_t *size) {
  char path[PATH_SIZE];
  *bytes = NULL;
  *size = 0;
  if (!file_path(cache, ending, path)) return;
  bool refused;
  FILE *file = heed_vk_cache_file_open(path, &refused);
  if (refused)
    heed_log(cache->context, HEED_LOG_WARNING,
             "vulkan: cache %s is not used: it is a link, or others may write it", path);
  if (!file) return;
  if (!heed_vk_cache_unpack(cache->context, file, &cache->key, sizeof cache->key, bytes, size))
    heed_log(cache->context, HEED_LOG_INFO, "vulkan: invalid cache %s; it will be replaced", path);
  fclose(file);
}

void heed_vk_cache_write(const heed_vk_cache *cache, const char *ending, const void *bytes,
                         size_t size) {
  char path[PATH_SIZE], temporary[PATH_SIZE];
  if (!file_path(cache, ending, path)) return;
  /* with this process's number: two that write at once do not share a file */
  snprintf(temporary, sizeof temporary, "%.*s.%ld.new", PATH_SIZE - SUFFIX_SIZE, path,
           heed_vk_cache_process());
  FILE *file = heed_vk_cache_file_create(temporary);
  bool written = file && heed_vk_cache_pack(file, &cache->key, sizeof cache->key, bytes, size);
  if (file && fclose(file) != 0) written = false;
  if (!written || !heed_vk_cache_file_replace(temporary, path)) {
    heed_vk_cache_file_remove(temporary);
    heed_log(cache->context, HEED_LOG_WARNING,
             "vulkan: cannot write %s; pipelines will be compiled again next time", path);
  }
}

void heed_vk_cache_load(const heed_vk_cache *cache, void **bytes, size_t *size) {
  heed_vk_cache_read(cache, "pipelines", bytes, size);
}

void heed_vk_cache_save(const heed_vk_cache *cache, const heed_vk_pipelines *pipelines) {
  const heed_vk_device *device = pipelines->device;
  size_t size = 0;
  if (!cache->directory) return;
  if (device->instance.api.GetPipelineCacheData(device->handle, pipelines->cache, &size, NULL) !=
          VK_SUCCESS ||
      size == 0 || size > HEED_VK_CACHE_MOST)
    return;
  void *bytes = heed_alloc_raw(cache->context, size, 1);
  if (bytes && device->instance.api.GetPipelineCacheData(device->handle, pipelines->cache, &size,
                                                         bytes) == VK_SUCCESS)
    heed_vk_cache_write(cache, "pipelines", bytes, size);
  heed_free(cache->context, bytes);
}
