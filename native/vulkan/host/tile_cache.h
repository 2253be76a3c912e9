/* Tiles that were measured, kept beside the pipeline cache. */
#ifndef HEED_VULKAN_HOST_TILE_CACHE_H
#define HEED_VULKAN_HOST_TILE_CACHE_H

#include "vulkan/host/cache.h"

/* *tiles: those of an earlier heed_vulkan_tune for this device, or none. A file that is damaged or
 * another's is ignored, and logged. */
void heed_vk_tiles_load(const heed_vk_cache *cache, const heed_gpu_limits *limits,
                        heed_gpu_tiles *tiles);
/* Keeps those of the shapes whose fastest tile is not the tables'. */
void heed_vk_tiles_save(const heed_vk_cache *cache, const heed_gpu_tuned *shapes, uint32_t count);

#endif
