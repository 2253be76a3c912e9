/* The tile of int8 products, in the shape of gemm.c's: compiled for each instruction set that
 * multiplies in its own way. */
#include "cpu/int8.h"
#include "cpu/simd/int8.h"

/* What i8_row and i8_weights give. */
#if defined(HEED_SIMD_NEON) && defined(HEED_INT8_DOT)
#define ROW int8x16_t
#elif defined(HEED_SIMD_NEON)
#define ROW int16x8_t
#elif defined(HEED_SIMD_SCALAR)
#define ROW int8_pair
#else
#define ROW i32xN
#endif

#define TILE_SUM int32_t
#define TILE_ROW ROW
#define TILE_BYTES HEED_INT8_GROUP
#define TILE_ZERO i32_zero
#define TILE_TAKE_ROW i8_row
#define TILE_TAKE_WEIGHTS i8_weights
#define TILE_DOT i8_dot
#define TILE_STORE i32_store
#define TILE_VECTOR i32xN
#include "cpu/packed_tile.h"

#if HEED_INT8_WHOLE
#if HEED_INT8_ROWS == 4
DEFINE_TILE(4)
#define WHOLE_TILE tile_4
#elif HEED_INT8_ROWS == 5
DEFINE_TILE(5)
#define WHOLE_TILE tile_5
#else
DEFINE_TILE(6)
#define WHOLE_TILE tile_6
#endif
static void (*const tiles[HEED_INT8_ROWS + 1])(const unsigned char *, const int8_t *, size_t,
                                               int32_t *) = {[HEED_INT8_ROWS] = WHOLE_TILE};
#else
DEFINE_TILE(1)
DEFINE_TILE(2)
#if HEED_INT8_ROWS >= 4
DEFINE_TILE(3)
DEFINE_TILE(4)
#endif
#if HEED_INT8_ROWS >= 6
DEFINE_TILE(5)
DEFINE_TILE(6)
#endif
#if HEED_INT8_ROWS >= 8
DEFINE_TILE(7)
DEFINE_TILE(8)
#endif
#if HEED_INT8_ROWS >= 12
DEFINE_TILE(9)
DEFINE_TILE(10)
DEFINE_TILE(11)
DEFINE_TILE(12)
#endif

static void (*const tiles[HEED_INT8_ROWS + 1])(const unsigned char *, const int8_t *, size_t,
                                               int32_t *) = {
    NULL,   tile_1,  tile_2,
#if HEED_INT8_ROWS >= 4
    tile_3, tile_4,
#endif
#if HEED_INT8_ROWS >= 6
    tile_5, tile_6,
#endif
#if HEED_INT8_ROWS >= 8
    tile_7, tile_8,
#endif
#if HEED_INT8_ROWS >= 12
    tile_9, tile_10, tile_11, tile_12,
#endif
};
#endif

#define DEFINE_WAY(name, flips)                     \
  extern const heed_cpu_int8 HEED_CPU_SYMBOL(name); \
  const heed_cpu_int8 HEED_CPU_SYMBOL(name) = {     \
      .rows = HEED_INT8_ROWS,                       \
      .columns = HEED_TILE_COLUMNS,                 \
      .group = HEED_INT8_GROUP,                     \
      .flip = flips,                                \
      .tile = tiles,                                \
  };

#if !defined(HEED_INT8_DOT)
DEFINE_WAY(heed_cpu_int8_plain, 0)
#else
DEFINE_WAY(heed_cpu_int8_bytes, HEED_INT8_FLIP)
#endif

#if defined(HEED_SIMD_RELAXED) && defined(HEED_INT8_DOT)
DEFINE_WAY(heed_cpu_int8_signed, 0x80)

/* Volatile: what the engine computes, not what the compiler knows. */
heed_cpu_int8_dot heed_cpu_int8_probe(void) {
  static const int8_t weights[16] = {127, -128, 127, -128, -128, -128, 127,  127,
                                     -1,  -2,   3,   -4,   -128, -128, -128, -128};
  static const uint8_t rows[16] = {255, 255, 0, 255, 255, 255, 255, 255,
                                   128, 200, 7, 129, 255, 255, 128, 128};
  volatile v128_t w = wasm_v128_load(weights), x = wasm_v128_load(rows),
                  before = wasm_i32x4_const(1000, -7, 123456, 0);
  static const int32_t as_unsigned[4] = {1000 - 32895, -7 - 510, 123456 - 1023, -98048},
                       as_signed[4] = {1000 + 129, -7 + 2, 123456 + 769, 33024};
  int32_t found[4];
  wasm_v128_store(found, i8_dot(before, x, w));
  if (memcmp(found, as_unsigned, sizeof found) == 0) return HEED_INT8_DOT_UNSIGNED;
  return memcmp(found, as_signed, sizeof found) == 0 ? HEED_INT8_DOT_SIGNED : HEED_INT8_DOT_NONE;
}
#endif
