/* Products of int8: linear's weights that are stored in int8, times rows that are quantised on the
 * way (docs/quantisation.md).
 *
 * A row x is kept as q = clamp(round(x / s) + zero, 0, 255), s = max / 255 - min / 255 over the row
 * and 0, zero = round(-min / s). Sums of q times weight are int32 and so exact: the same on every
 * level and for any number of threads. A row with a NaN or an infinity gives NaN.
 *
 * A matrix [N, K] is kept as panels of W columns, W = HEED_TILE_COLUMNS: W scales (float), W sums
 * of a column's weights (int32_t), then the weights [ceil(K / G)][W][G], G = 4 where bytes are
 * multiplied and 2 where 16 bits are, zeros where there is none. Rows are packed by tiles,
 * [ceil(K / G)][rows][G]. */
#ifndef HEED_CPU_WEIGHTS_INT8_H
#define HEED_CPU_WEIGHTS_INT8_H

#include "cpu/simd/f32xN.h"
#include "graph/quantised.h"

struct heed_cpu_product;

/* A way of multiplying, compiled once per instruction set. */
typedef struct heed_cpu_int8 {
  uint32_t rows;  /* of a tile */
  uint32_t group; /* G; a group of a row is always 4 bytes */
  uint32_t flip;  /* what packed numbers of a row are q XOR with */
  /* [m]: sums [m, W] = rows [groups][m][G] times panel [groups][W][G] */
  void (*const *tile)(const unsigned char *rows, const int8_t *panel, size_t groups, int32_t *sums);
} heed_cpu_int8;

/* What a row was quantised with. */
typedef struct heed_cpu_int8_row {
  float scale;   /* NaN: so is the row's result */
  int32_t zero;  /* subtracts zero times the sum of a column's weights */
  int32_t total; /* of what was packed, where a level needs it (int8_wide.c) */
} heed_cpu_int8_row;

#define heed_cpu_int8_pack_tile HEED_CPU_SYMBOL(heed_cpu_int8_pack_tile)
#define heed_cpu_int8_product_panel HEED_CPU_SYMBOL(heed_cpu_int8_product_panel)

/* Quantises rows [m, depth], m at most way->rows, and packs them as a tile. int8_blocks.c or
 * int8_rows.c, as the level is built. */
void heed_cpu_int8_pack_tile(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                             unsigned char *tile, heed_cpu_int8_row *rows);

/* One of the panels that lie from `data` on. */
typedef struct heed_cpu_int8_panel {
  const unsigned char *data;
  size_t bytes, number;
} heed_cpu_int8_panel;
/* As heed_cpu_form.product_panel, of rows that are packed as `group` and were quantised with
 * `rows`. */
void heed_cpu_int8_product_panel(const heed_cpu_int8 *way, const struct heed_cpu_product *product,
                                 const heed_cpu_int8_panel *panel, const unsigned char *group,
                                 const heed_cpu_int8_row *rows, size_t first, size_t count,
                                 float *sums);

/* int8_wide.c, where HEED_INT8_WIDE is not 0: whether tiles of widened weights are faster here, for
 * the way that multiplies pairs; a panel [groups][W][2] widened, as many numbers of 16 bits; and
 * its tile, [m, W] sums, between the two that keep and restore how the processor treats small
 * floats. */
bool heed_cpu_int8_adds_floats(void);
void heed_cpu_int8_wide_panel(const int8_t *panel, size_t groups, int16_t *wide);
void heed_cpu_int8_wide_tile(size_t m, const unsigned char *rows, const int16_t *wide,
                             size_t groups, const heed_cpu_int8_row *row, int32_t *sums);
uint32_t heed_cpu_int8_keep_small(void);
void heed_cpu_int8_leave_small(uint32_t before);
/* Bytes of a panel that is widened. */
static inline uint64_t heed_cpu_int8_wide_bytes(uint64_t depth) {
  return (depth / 2 + depth % 2) * HEED_TILE_COLUMNS * 2 * sizeof(int16_t);
}

#endif
