/* The tile of int8 products, in the shape of gemm.c's: compiled for each instruction set that
 * multiplies in its own way. */
#include "cpu/int8.h"
#include "cpu/simd/int8.h"

#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif

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
#define VECTOR_BYTES (HEED_SIMD_WIDTH * HEED_INT8_GROUP)

#if HEED_TILE_VECTORS == 2
#define START(i) i32xN low##i = i32_zero(), high##i = i32_zero();
#define STEP(i)                                   \
  {                                               \
    const ROW x = i8_row(rows + i * GROUP_BYTES); \
    low##i = i8_dot(low##i, x, w_low);            \
    high##i = i8_dot(high##i, x, w_high);         \
  }
#define STORE(i)                                   \
  i32_store(sums + i * HEED_TILE_COLUMNS, low##i); \
  i32_store(sums + i * HEED_TILE_COLUMNS + HEED_SIMD_WIDTH, high##i);
#define STEPS(m)                                                                  \
  const ROW w_low = i8_weights(panel), w_high = i8_weights(panel + VECTOR_BYTES); \
  ROWS_##m(STEP)
#else
/* As in gemm.c: each vector of weights is multiplied into every row as soon as it is loaded. */
#define VECTORS(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3) X(i, 4) X(i, 5)
#define SUM(i, v) i32xN sum##i##_##v = i32_zero();
#define START(i) VECTORS(SUM, i)
#define TAKE(i) const ROW x##i = i8_row(rows + i * GROUP_BYTES);
#define ADD_ROW(i, v) sum##i##_##v = i8_dot(sum##i##_##v, x##i, w);
#define ADD_1(v) ADD_ROW(0, v)
#define ADD_2(v) ADD_1(v) ADD_ROW(1, v)
#define STEP(m, v)                                      \
  {                                                     \
    const ROW w = i8_weights(panel + (v)*VECTOR_BYTES); \
    ADD_##m(v)                                          \
  }
#define STORE_VECTOR(i, v) \
  i32_store(sums + i * HEED_TILE_COLUMNS + (v)*HEED_SIMD_WIDTH, sum##i##_##v);
#define STORE(i) VECTORS(STORE_VECTOR, i)
#define STEPS(m) ROWS_##m(TAKE) VECTORS(STEP, m)
#endif

/* What i8_row and i8_weights give. */
#if defined(HEED_SIMD_NEON) && HEED_INT8_GROUP == 4
#define ROW int8x16_t
#elif defined(HEED_SIMD_NEON)
#define ROW int16x8_t
#elif defined(HEED_SIMD_SCALAR)
#define ROW int8_pair
#else
#define ROW i32xN
#endif

#define DEFINE_TILE(m)                                                                           \
  static NOINLINE void tile_##m(const unsigned char *rows, const int8_t *panel, size_t groups,   \
                                int32_t *sums) {                                                 \
    ROWS_##m(START) for (; groups > 0;                                                           \
                         groups--, rows += (m)*GROUP_BYTES,                                      \
                         panel += HEED_TILE_COLUMNS * HEED_INT8_GROUP){STEPS(m)} ROWS_##m(STORE) \
  }

DEFINE_TILE(1)
DEFINE_TILE(2)
#if HEED_TILE_ROWS >= 4
DEFINE_TILE(3)
DEFINE_TILE(4)
#endif
#if HEED_TILE_ROWS >= 6
DEFINE_TILE(5)
DEFINE_TILE(6)
#endif
#if HEED_TILE_ROWS >= 8
DEFINE_TILE(7)
DEFINE_TILE(8)
#endif
#if HEED_TILE_ROWS >= 12
DEFINE_TILE(9)
DEFINE_TILE(10)
DEFINE_TILE(11)
DEFINE_TILE(12)
#endif

static void (*const tiles[HEED_TILE_ROWS + 1])(const unsigned char *, const int8_t *, size_t,
                                               int32_t *) = {
    NULL,   tile_1,  tile_2,
#if HEED_TILE_ROWS >= 4
    tile_3, tile_4,
#endif
#if HEED_TILE_ROWS >= 6
    tile_5, tile_6,
#endif
#if HEED_TILE_ROWS >= 8
    tile_7, tile_8,
#endif
#if HEED_TILE_ROWS >= 12
    tile_9, tile_10, tile_11, tile_12,
#endif
};

#if defined(HEED_INT8_VNNI)
#define WAY HEED_CPU_SYMBOL(heed_cpu_int8_vnni)
#else
#define WAY HEED_CPU_SYMBOL(heed_cpu_int8_plain)
#endif
extern const heed_cpu_int8 WAY;

const heed_cpu_int8 WAY = {
    .columns = HEED_TILE_COLUMNS, .group = HEED_INT8_GROUP, .flip = HEED_INT8_FLIP, .tile = tiles};
