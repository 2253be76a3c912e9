/* Products of int8 by pairs of 16 bits, which every level can multiply. */
#include "cpu/simd/int8.h"

#define TILE_ROWS HEED_INT8_PAIR_ROWS
#define TILE_VECTOR i32xN
#define TILE_ROW i8_operand
#define TILE_BYTES 2
#define TILE_ZERO i32_zero
#define TILE_TAKE_ROW i8_row
#define TILE_TAKE_WEIGHTS i8_weights
#define TILE_DOT i8_dot
#define TILE_STORE i32_store
#include "cpu/weights/int8_tile.h"

DEFINE_WAY(heed_cpu_int8_plain, 0)
