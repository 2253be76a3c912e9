/* Weights as floats: panels and groups of cpu/gemm.h. */
#include "cpu/weights/floats.h"

static uint64_t panel_bytes(const heed_cpu_level_table *level, uint64_t depth) {
  return level->panel_columns * depth * sizeof(float);
}

static void pack_panel(const heed_cpu_matrix *matrix, const void *from, uint64_t row,
                       uint32_t count, void *panel) {
  (void)row;
  heed_cpu_pack_panel(from, (size_t)matrix->depth, count, panel);
}

static void product_panel(const heed_cpu_level_table *level, const heed_cpu_product *product,
                          const void *group, size_t first, size_t count, size_t panel,
                          float *sums) {
  (void)level;
  heed_cpu_product_panel(product, group, first, count, panel, sums);
}

const heed_cpu_form HEED_CPU_SYMBOL(heed_cpu_form_f32) = {
    .name = "f32",
    .panel_bytes = panel_bytes,
    .element = sizeof(float),
    .read = heed_graph_read_constant,
    .pack_panel = pack_panel,
    .tile_rows = heed_cpu_floats_tile_rows,
    .group_bytes = heed_cpu_floats_group_bytes,
    .pack_tile = heed_cpu_floats_pack_tile,
    .product_panel = product_panel,
};
