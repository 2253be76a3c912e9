/* Weights that are stored in int8, times rows that are quantised on the way (weights/int8.h). A
 * group is what each of its rows was quantised with, then its tiles. */
#include "cpu/weights/int8.h"

#include <string.h>

#include "base/alloc.h"
#include "cpu/gemm.h"
#include "cpu/weights/form.h"

static bool accepts(const heed_cpu_level_table *level, const heed_graph *graph, uint32_t id) {
  const heed_quantised *quantised = heed_graph_quantised(graph, id);
  (void)level;
  return quantised && quantised->depth <= HEED_INT8_MOST_DEPTH;
}

/* A multiple of 64. */
static uint64_t panel_bytes(const heed_cpu_level_table *level, uint64_t depth) {
  const heed_cpu_int8 *way = level->int8;
  const uint64_t weights = heed_cpu_divide_up(depth, way->group) * way->group;
  return heed_align_up(level->panel_columns * (sizeof(float) + sizeof(int32_t) + weights), 64);
}

static heed_status read(const heed_graph *graph, uint32_t id, uint64_t first, uint64_t count,
                        void *to, heed_error *error) {
  return heed_quantised_read(heed_graph_quantised(graph, id), first, count, to, error);
}

static void pack_panel(const heed_cpu_matrix *matrix, const void *from, uint64_t row,
                       uint32_t count, void *panel) {
  const heed_cpu_int8 *way = matrix->level->int8;
  const float *scale = heed_graph_quantised(matrix->graph, matrix->id)->scale + row;
  const size_t depth = (size_t)matrix->depth;
  float *scales = panel;
  int32_t *totals = (int32_t *)(void *)(scales + HEED_TILE_COLUMNS);
  int8_t *weights = (int8_t *)(totals + HEED_TILE_COLUMNS);
  memset(panel, 0, (size_t)panel_bytes(matrix->level, depth));
  for (uint32_t n = 0; n < count; n++) {
    const int8_t *numbers = (const int8_t *)from + n * depth;
    scales[n] = scale[n];
    for (size_t k = 0; k < depth; k++) {
      weights[(k / way->group * HEED_TILE_COLUMNS + n) * way->group + k % way->group] = numbers[k];
      totals[n] += numbers[k];
    }
  }
}

static uint32_t tile_rows(const heed_cpu_level_table *level) { return level->int8->rows; }

/* Bytes of a packed row: groups are of four. */
static uint64_t row_bytes(const heed_cpu_int8 *way, uint64_t depth) {
  return heed_cpu_divide_up(depth, way->group) * 4;
}

static uint64_t group_bytes(const heed_cpu_level_table *level, uint64_t rows, uint64_t depth) {
  return rows * (sizeof(heed_cpu_int8_row) + row_bytes(level->int8, depth));
}

static uint64_t panel_scratch(const heed_cpu_level_table *level, uint64_t depth) {
  return HEED_INT8_WIDE && level->int8->group == 2 ? heed_cpu_int8_wide_bytes(depth) : 0;
}

static void pack_tile(const heed_cpu_level_table *level, const float *x, size_t depth, size_t count,
                      size_t tile, void *group) {
  const heed_cpu_int8 *way = level->int8;
  const size_t at = tile * way->rows, left = count - at, m = left < way->rows ? left : way->rows;
  heed_cpu_int8_row *rows = group;
  unsigned char *packed = (unsigned char *)(rows + count);
  heed_cpu_int8_pack_tile(way, x, depth, m, packed + at * row_bytes(way, depth), rows + at);
}

static void product_panel(const heed_cpu_level_table *level, const heed_cpu_product *product,
                          const void *group, size_t first, size_t count, size_t panel,
                          float *sums) {
  const heed_cpu_int8_row *rows = group;
  const heed_cpu_int8_panel at = {
      .data = (const unsigned char *)(const void *)product->panels,
      .bytes = (size_t)panel_bytes(level, product->depth),
      .number = panel,
  };
  heed_cpu_int8_product_panel(level->int8, product, &at, (const unsigned char *)(rows + count),
                              rows, first, count, sums);
}

const heed_cpu_form HEED_CPU_SYMBOL(heed_cpu_form_int8) = {
    .name = "int8",
    .accepts = accepts,
    .panel_bytes = panel_bytes,
    .element = sizeof(int8_t),
    .read = read,
    .pack_panel = pack_panel,
    .tile_rows = tile_rows,
    .group_bytes = group_bytes,
    .panel_scratch = panel_scratch,
    .pack_tile = pack_tile,
    .product_panel = product_panel,
};
