/* The choice of register tile. The panel's width is the same for all row counts, so a weight is packed once whoever uses it. */
#include "vulkan/tile.h"

heed_vk_tile heed_vk_choose_tile(const heed_vk_limits *limits, uint32_t rows, uint32_t columns) {
  heed_vk_tile tile;
  if (limits->cpu) { /* one subgroup a workgroup, large tiles: measured on lavapipe */
    tile.rows = rows >= 12 ? 16 : rows >= 3 ? 4 : 1;
    tile.lanes = limits->lanes < 4 ? 4 : limits->lanes > 16 ? 16 : limits->lanes;
    tile.columns = 16 / tile.lanes;
    tile.groups = 1;
  } else {
    tile.rows = rows >= 32 ? 8 : rows >= 8 ? 2 : 1;
    tile.lanes = 16;
    tile.columns = 1;
    tile.groups = 8;
  }
  tile.panel = tile.lanes * tile.columns * 4;
  tile.x = heed_vk_divide(rows, tile.rows * tile.groups);
  tile.y = heed_vk_divide(columns, tile.panel);
  return tile;
}
