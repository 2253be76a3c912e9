/* Products of int8: linear's weights that are stored in int8, times rows that are quantised on the
 * way (docs/quantisation.md).
 *
 * A row x is kept as q = clamp(round(x / s) + zero, 0, 255), s = max / 255 - min / 255 over the row
 * and 0, zero = round(-min / s). Sums of q times weight are int32 and so exact: the same on every
 * level and for any number of threads. A row with a NaN or an infinity gives NaN.
 *
 * A matrix [N, K] is kept as panels of W columns, W = HEED_TILE_COLUMNS: W scales (float), W sums
 * of a column's weights (int32_t), then the weights [ceil(K / G)][W][G], G = HEED_INT8_GROUP, zeros
 * where there is none. Rows are packed by tiles, [ceil(K / G)][rows][G]. */
#ifndef HEED_CPU_INT8_H
#define HEED_CPU_INT8_H

#include "graph/quantised.h"

/* A way of multiplying, compiled once per instruction set. */
typedef struct heed_cpu_int8 {
  uint32_t rows;    /* of a tile */
  uint32_t columns; /* W */
  uint32_t group;   /* G; a group of a row is always 4 bytes */
  uint32_t flip;    /* what packed numbers of a row are q XOR with */
  /* [m]: sums [m, W] = rows [groups][m][G] times panel [groups][W][G] */
  void (*const *tile)(const unsigned char *rows, const int8_t *panel, size_t groups, int32_t *sums);
} heed_cpu_int8;

/* How an engine takes the bytes of WebAssembly's relaxed dot product, whose first operand is
 * signed: a choice of its own, found by value (int8_tile.c). Whatever else comes out is not used.
 */
typedef enum heed_cpu_int8_dot {
  HEED_INT8_DOT_NONE,
  HEED_INT8_DOT_UNSIGNED,
  HEED_INT8_DOT_SIGNED
} heed_cpu_int8_dot;
heed_cpu_int8_dot heed_cpu_int8_probe(void);

/* What a row was quantised with. */
typedef struct heed_cpu_int8_row {
  float scale;  /* NaN: so is the row's result */
  int32_t zero; /* subtracts zero times the sum of a column's weights */
#if defined(__x86_64__)
  int32_t total; /* of what was packed, where a level needs it (int8_wide.c) */
#endif
} heed_cpu_int8_row;

/* How a value that is stored in int8 is multiplied; NULL: as floats. */
static inline const heed_quantised *heed_cpu_int8_of(const heed_graph *graph, uint32_t id) {
  const heed_quantised *quantised = heed_graph_quantised(graph, id);
  return quantised && quantised->depth <= HEED_INT8_MOST_DEPTH ? quantised : NULL;
}

/* Bytes of a panel, a multiple of 64. */
uint64_t heed_cpu_int8_panel_bytes(const heed_cpu_int8 *way, uint64_t depth);
/* Packs `rows` rows (at most `columns`) of a matrix [N, depth] and their scales. */
void heed_cpu_int8_pack_panel(const heed_cpu_int8 *way, const int8_t *from, const float *scale,
                              size_t depth, uint32_t rows, void *panel);

#endif
