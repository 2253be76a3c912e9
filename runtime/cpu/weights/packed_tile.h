/* A tile of rows and weights that are packed in groups of a few bytes along the depth, in the shape
 * of gemm.c's. The file that includes it defines its words:
 *   TILE_ROWS                         of a tile at most: one of TILES_4 .. TILES_12
 *   TILE_VECTOR, TILE_ROW, TILE_SUM   a vector of sums; what rows and weights are read as; a sum
 *   TILE_BYTES                        of a column's weights in a group
 *   TILE_ZERO, TILE_DOT, TILE_STORE   of sums
 *   TILE_TAKE_ROW, TILE_TAKE_WEIGHTS  a group of a row in every lane; of a vector of columns
 *
 * DEFINE_TILE(m) defines tile_m: sums [m, W] = rows [groups][m][4 bytes] times panel
 * [groups][W][TILE_BYTES]; TILES(X) is X of each number of rows. */
#ifndef HEED_CPU_WEIGHTS_PACKED_TILE_H
#define HEED_CPU_WEIGHTS_PACKED_TILE_H

#define ROWS_1(X) X(0)
#define ROWS_2(X) ROWS_1(X) X(1)
#define ROWS_3(X) ROWS_2(X) X(2)
#define ROWS_4(X) ROWS_3(X) X(3)
#define ROWS_5(X) ROWS_4(X) X(4)
#define ROWS_6(X) ROWS_5(X) X(5)
#define ROWS_7(X) ROWS_6(X) X(6)
#define ROWS_8(X) ROWS_7(X) X(7)
#define ROWS_9(X) ROWS_8(X) X(8)
#define ROWS_10(X) ROWS_9(X) X(9)
#define ROWS_11(X) ROWS_10(X) X(10)
#define ROWS_12(X) ROWS_11(X) X(11)

/* Bytes of a row's group, and of a vector of weights. */
#define GROUP_BYTES 4
#define VECTOR_BYTES (HEED_SIMD_WIDTH * TILE_BYTES)

#define START(i) TILE_VECTOR low##i = TILE_ZERO(), high##i = TILE_ZERO();
#define STEP(i)                                            \
  {                                                        \
    const TILE_ROW a = TILE_TAKE_ROW(x + i * GROUP_BYTES); \
    low##i = TILE_DOT(low##i, a, w_low);                   \
    high##i = TILE_DOT(high##i, a, w_high);                \
  }
#define STORE(i)                                        \
  TILE_STORE(sums + v + i * HEED_TILE_COLUMNS, low##i); \
  TILE_STORE(sums + v + i * HEED_TILE_COLUMNS + HEED_SIMD_WIDTH, high##i);

/* Two vectors of columns at a time: a panel of six is passed over three times, since a product of
 * 16 bits takes a register for itself. */
#define DEFINE_TILE(m)                                                                             \
  static HEED_NOINLINE void tile_##m(const unsigned char *rows, const int8_t *panel,               \
                                     size_t groups, TILE_SUM *sums) {                              \
    for (size_t v = 0; v < HEED_TILE_COLUMNS; v += 2 * HEED_SIMD_WIDTH) {                          \
      const unsigned char *x = rows;                                                               \
      const int8_t *w = panel + v * TILE_BYTES;                                                    \
      ROWS_##m(START) for (size_t left = groups; left > 0; left--) {                               \
        const TILE_ROW w_low = TILE_TAKE_WEIGHTS(w), w_high = TILE_TAKE_WEIGHTS(w + VECTOR_BYTES); \
        ROWS_##m(STEP) x += (m)*GROUP_BYTES;                                                       \
        w += HEED_TILE_COLUMNS * TILE_BYTES;                                                       \
      }                                                                                            \
      ROWS_##m(STORE)                                                                              \
    }                                                                                              \
  }

#define TILES_4(X) X(1) X(2) X(3) X(4)
#define TILES_5(X) TILES_4(X) X(5)
#define TILES_6(X) TILES_5(X) X(6)
#define TILES_8(X) TILES_6(X) X(7) X(8)
#define TILES_12(X) TILES_8(X) X(9) X(10) X(11) X(12)
#define TILES_JOIN_(a, b) a##b
#define TILES_JOIN(a, b) TILES_JOIN_(a, b)
#define TILES TILES_JOIN(TILES_, TILE_ROWS)

#endif
