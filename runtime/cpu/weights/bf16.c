/* Weights that are rounded to bf16, on a level that multiplies so (weights/bf16.h). */
#include "cpu/weights/bf16.h"

#include "cpu/gemm.h"
#include "cpu/weights/form.h"

static bool accepts(const heed_cpu_level_table *level, const heed_graph *graph, uint32_t id) {
  (void)graph, (void)id;
  return level->bf16 != NULL;
}

static uint64_t panel_bytes(const heed_cpu_level_table *level, uint64_t depth) {
  return level->panel_columns * (uint64_t)heed_cpu_bf16_row_bytes(depth);
}

static void pack_panel(const heed_cpu_matrix *matrix, const void *from, uint64_t row,
                       uint32_t count, void *panel) {
  (void)row;
  matrix->level->bf16->pack_panel(from, (size_t)matrix->depth, count, panel);
}

static uint32_t tile_rows(const heed_cpu_level_table *level) { return level->bf16->rows; }

static uint64_t group_bytes(const heed_cpu_level_table *level, uint64_t rows, uint64_t depth) {
  (void)level;
  return rows * heed_cpu_bf16_row_bytes(depth);
}

static void pack_tile(const heed_cpu_level_table *level, const float *x, size_t depth, size_t count,
                      size_t tile, void *group) {
  const size_t at = tile * level->bf16->rows, left = count - at;
  level->bf16->pack_tile(x, depth, left < level->bf16->rows ? left : level->bf16->rows,
                         (unsigned char *)group + at * heed_cpu_bf16_row_bytes(depth));
}

static void product_panel(const heed_cpu_level_table *level, const heed_cpu_product *product,
                          const void *group, size_t first, size_t count, size_t panel,
                          float *sums) {
  level->bf16->product_panel(product, group, first, count, panel, sums);
}

const heed_cpu_form HEED_CPU_SYMBOL(heed_cpu_form_bf16) = {
    .name = "bf16",
    .accepts = accepts,
    .panel_bytes = panel_bytes,
    .element = sizeof(float),
    .read = heed_graph_read_constant,
    .pack_panel = pack_panel,
    .tile_rows = tile_rows,
    .group_bytes = group_bytes,
    .pack_tile = pack_tile,
    .product_panel = product_panel,
};
