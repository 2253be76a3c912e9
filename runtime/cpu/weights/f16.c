/* Weights that are stored in fp16 and stay so in memory (graph/halves.h). A panel is W factors
 * (float), one per column, then halves [K][W]. A product widens a slice of a panel at a time;
 * widened and multiplied by their factors, they are the floats of the constant bit for bit. Rows
 * are packed as those of f32 are. */
#include <string.h>

#include "base/alloc.h"
#include "cpu/simd/half.h"
#include "cpu/weights/floats.h"
#include "graph/halves.h"

static bool accepts(const heed_cpu_level_table *level, const heed_graph *graph, uint32_t id) {
  (void)level;
  return heed_graph_halves(graph, id) != NULL;
}

/* A multiple of 64. */
static uint64_t panel_bytes(const heed_cpu_level_table *level, uint64_t depth) {
  return heed_align_up(level->panel_columns * (sizeof(float) + depth * sizeof(uint16_t)), 64);
}

static heed_status read(const heed_graph *graph, uint32_t id, uint64_t first, uint64_t count,
                        void *to, heed_error *error) {
  const heed_halves *halves = heed_graph_halves(graph, id);
  return halves->read(halves->read_user, first, count, to, error);
}

/* The fp16 of a number that it holds: a float 2^112 times as small has its bits, 13 places on. */
static uint16_t narrow(float number) {
  const float small = number * 0x1p-112f;
  uint32_t bits;
  memcpy(&bits, &small, sizeof bits);
  return (uint16_t)((bits >> 16 & 0x8000u) | (bits >> 13 & 0x7FFFu));
}

static void pack_panel(const heed_cpu_matrix *matrix, const void *from, uint64_t row,
                       uint32_t count, void *panel) {
  const heed_halves *halves = heed_graph_halves(matrix->graph, matrix->id);
  const size_t depth = (size_t)matrix->depth;
  const float *numbers = from;
  float *factors = panel;
  uint16_t *packed = (uint16_t *)(void *)(factors + HEED_TILE_COLUMNS);
  memset(panel, 0, (size_t)panel_bytes(matrix->level, depth));
  for (uint32_t n = 0; n < count; n++) {
    factors[n] = halves->factor * (halves->row_scale ? halves->row_scale[row + n] : 1.0f);
    for (size_t k = 0; k < depth; k++)
      packed[k * HEED_TILE_COLUMNS + n] = narrow(numbers[n * depth + k]);
  }
}

/* A slice of a panel, [depth][W] from `from` on, as floats. */
static void widen(const float *factors, size_t from, size_t depth, float *to) {
  const uint16_t *halves =
      (const uint16_t *)(const void *)(factors + HEED_TILE_COLUMNS) + from * HEED_TILE_COLUMNS;
  for (; depth > 0; depth--, halves += HEED_TILE_COLUMNS, to += HEED_TILE_COLUMNS)
    for (uint32_t n = 0; n < HEED_TILE_COLUMNS; n += HEED_SIMD_WIDTH)
      f32_store(to + n, f32_mul(f32_widen(halves + n), f32_load(factors + n)));
}

static void product_panel(const heed_cpu_level_table *level, const heed_cpu_product *p,
                          const void *group, size_t first, size_t count, size_t panel,
                          float *sums) {
  const unsigned char *bytes =
      (const unsigned char *)(const void *)p->panels + panel * panel_bytes(level, p->depth);
  const float *factors = (const float *)(const void *)bytes, *rows = group;
  const size_t slice = heed_cpu_slice_depth(p->depth);
  float widened[HEED_CPU_DEPTH_SLICE * HEED_TILE_COLUMNS];
  for (size_t from = 0; from < p->depth; from += slice) {
    const size_t depth = p->depth - from < slice ? p->depth - from : slice;
    widen(factors, from, depth, widened);
    heed_cpu_add_slice(rows + from * count, count, widened, depth, from > 0, sums,
                       HEED_TILE_COLUMNS);
  }
  heed_cpu_finish(p, sums, first, count, panel);
}

const heed_cpu_form HEED_CPU_SYMBOL(heed_cpu_form_f16) = {
    .name = "f16",
    .accepts = accepts,
    .panel_bytes = panel_bytes,
    .element = sizeof(float),
    .read = read,
    .pack_panel = pack_panel,
    .tile_rows = heed_cpu_floats_tile_rows,
    .group_bytes = heed_cpu_floats_group_bytes,
    .pack_tile = heed_cpu_floats_pack_tile,
    .product_panel = product_panel,
};
