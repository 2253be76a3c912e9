/* The choice of register tile. The panel's width depends on the columns alone, so a weight is packed once whatever the rows. */
#include "vulkan/tile.h"

/* vec4 of columns an invocation on a software device: wide tiles fetch less (on lavapipe 2, 3, 4 reach 12.4, 14.8, 16.8 GFLOP/s a core), but a
 * panel that the columns do not fill is work for nothing. */
static uint32_t choose_columns(uint32_t columns, uint32_t lanes) {
  static const double speed[] = {0.0, 8.2, 12.4, 14.8, 16.8};
  uint32_t best = 1;
  double least = 0.0;
  for (uint32_t c = 1; c <= 4; c++) {
    const double time = (double)heed_vk_divide(columns, lanes * c * 4) * (double)c / speed[c];
    if (c == 1 || time <= least) {
      best = c;
      least = time;
    }
  }
  return best;
}

heed_vk_tile heed_vk_choose_tile(const heed_vk_builder *builder, uint32_t rows, uint32_t columns, uint32_t depth, uint64_t x_bytes, bool vector) {
  const heed_vk_limits *limits = builder->limits;
  heed_vk_tile tile = {.groups = 1, .half = limits->half};
  if (limits->cpu) { /* one subgroup a workgroup, large tiles */
    tile.rows = rows >= 12 ? 16 : rows >= 3 ? 4 : 1;
    tile.lanes = limits->lanes < 4 ? 4 : limits->lanes > 16 ? 16 : limits->lanes;
    tile.columns = choose_columns(columns, tile.lanes);
  } else {
    tile.rows = rows >= 32 ? 8 : rows >= 8 ? 2 : 1;
    tile.lanes = 16;
    tile.columns = 1;
    tile.groups = 8;
  }
  tile.panel = tile.lanes * tile.columns * 4;
  tile.x = heed_vk_divide(rows, tile.rows * tile.groups);
  tile.y = heed_vk_divide(columns, tile.panel);
  tile.texels = vector && heed_vk_can_texel(builder, x_bytes) && heed_vk_can_texel(builder, (uint64_t)tile.y * tile.panel * depth * sizeof(float));
  return tile;
}
