/* heed_vulkan_tune: gpu/tune.h by the device's timestamps. */
#include "gpu/tune.h"

#include <string.h>

#include "base/status.h"
#include "vulkan/host/backend_state.h"
#include "vulkan/host/tile_cache.h"

heed_status heed_vulkan_tune(heed_backend *backend, const heed_graph *graph,
                             heed_vulkan_tuning *tuning, heed_error *error) {
  if (!backend || !graph || !tuning)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "tune: NULL argument (expected backend, graph and result)");
  memset(tuning, 0, sizeof *tuning);
  if (strcmp(heed_backend_name(backend), "vulkan") != 0)
    return heed_fail(error, HEED_UNSUPPORTED, "tune: only Vulkan has tiles (found %s)",
                     heed_backend_name(backend));
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  if (!vulkan->cache.directory)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "tune: the backend has no cache directory for the tiles");
  heed_gpu_tuned shapes[HEED_GPU_MOST_TUNED];
  const uint32_t count = heed_gpu_list_shapes(graph, &vulkan->device.limits, shapes);
  heed_status status = HEED_OK;
  const heed_gpu_tiles *tiles = vulkan->device.limits.tiles;
  /* compared with the tables, not with what was measured before */
  vulkan->device.limits.tiles = NULL;
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    double before = 0.0, after = 0.0;
    status =
        heed_gpu_measure_tiles(backend, &vulkan->device.limits, &shapes[i], &before, &after, error);
    tuning->shapes++;
    tuning->changed += shapes[i].choice != 0;
    tuning->before += before;
    tuning->after += after;
  }
  vulkan->device.limits.tiles = tiles;
  if (status == HEED_OK) heed_vk_tiles_save(&vulkan->cache, shapes, count);
  return status;
}
