/* Products of int8 by relaxed SIMD's dot product, where the engine takes it for unsigned bytes and
 * where it takes it for signed ones; and which of them it does. */
#include "cpu/machine.h"
#include "cpu/simd/f32xN.h"

#include HEED_SIMD_DOT

#define TILE_ROWS HEED_INT8_MOST_ROWS
#define TILE_VECTOR dot_sums
#define TILE_ROW dot_operand
#define TILE_BYTES 4
#define TILE_ZERO dot_zero
#define TILE_TAKE_ROW dot_row
#define TILE_TAKE_WEIGHTS dot_weights
#define TILE_DOT dot_add
#define TILE_STORE dot_store
#include "cpu/weights/int8_tile.h"

DEFINE_WAY(heed_cpu_int8_bytes, 0)
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
  wasm_v128_store(found, dot_add(before, x, w));
  if (memcmp(found, as_unsigned, sizeof found) == 0) return HEED_INT8_DOT_UNSIGNED;
  return memcmp(found, as_signed, sizeof found) == 0 ? HEED_INT8_DOT_SIGNED : HEED_INT8_DOT_NONE;
}
