/* Products of int8 by the machine's dot product of bytes. */
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

DEFINE_WAY(heed_cpu_int8_bytes, HEED_INT8_DOT_FLIP)
