/* Measured tiles as a file kept them. See tune.h. */
#include <string.h>

#include "gpu/tune.h"

bool heed_gpu_take_tiles(const heed_gpu_limits *limits, const void *bytes, size_t size,
                         heed_gpu_tiles *tiles) {
  bool right = size == sizeof *tiles;
  if (right) memcpy(tiles, bytes, size);
  right = right && tiles->count <= HEED_GPU_MOST_TUNED;
  for (uint32_t i = 0; right && i < tiles->count; i++)
    right = tiles->shape[i].choice >= 1 &&
            tiles->shape[i].choice <= heed_gpu_count_candidates(limits, &tiles->shape[i].key);
  if (!right) memset(tiles, 0, sizeof *tiles);
  return right;
}
