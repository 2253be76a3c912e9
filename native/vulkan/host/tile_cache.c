/* Measured tiles in the cache: a file beside the pipelines. */
#include "vulkan/host/tile_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "gpu/tune.h"

#define ENDING "tiles"

void heed_vk_tiles_load(const heed_vk_cache *cache, const heed_gpu_limits *limits,
                        heed_gpu_tiles *tiles) {
  void *bytes;
  size_t size;
  memset(tiles, 0, sizeof *tiles);
  heed_vk_cache_read(cache, ENDING, &bytes, &size);
  if (!bytes) return;
  const bool right = heed_gpu_take_tiles(limits, bytes, size, tiles);
  heed_free(cache->context, bytes);
  if (right) return;
  heed_log(cache->context, HEED_LOG_INFO, "vulkan: ignoring cached tiles of another device");
}

void heed_vk_tiles_save(const heed_vk_cache *cache, const heed_gpu_tuned *shapes, uint32_t count) {
  heed_gpu_tiles tiles;
  memset(&tiles, 0, sizeof tiles);
  for (uint32_t i = 0; i < count; i++)
    if (shapes[i].choice) tiles.shape[tiles.count++] = shapes[i];
  heed_vk_cache_write(cache, ENDING, &tiles, sizeof tiles);
}
