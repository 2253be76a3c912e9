/* The tiles of int8 products and a way to multiply with them, in the shape of gemm.c's. The file
 * that includes it defines TILE_ROWS, rows of a tile at most, and the words of packed_tile.h but
 * TILE_SUM. */
#ifndef HEED_CPU_WEIGHTS_INT8_TILE_H
#define HEED_CPU_WEIGHTS_INT8_TILE_H

#include "cpu/weights/int8.h"

#define TILE_SUM int32_t
#include "cpu/weights/packed_tile.h"

TILES(DEFINE_TILE)

#define TILE(m) [m] = tile_##m,
static void (*const tiles[TILE_ROWS + 1])(const unsigned char *, const int8_t *, size_t,
                                          int32_t *) = {TILES(TILE)};

#define DEFINE_WAY(name, flips)                     \
  extern const heed_cpu_int8 HEED_CPU_SYMBOL(name); \
  const heed_cpu_int8 HEED_CPU_SYMBOL(name) = {     \
      .rows = TILE_ROWS,                            \
      .group = TILE_BYTES,                          \
      .flip = flips,                                \
      .tile = tiles,                                \
  };

#endif
