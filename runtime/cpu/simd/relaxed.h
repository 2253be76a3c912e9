/* WebAssembly with relaxed SIMD: four floats, multiply-add fused where the machine has it. The tile
 * of 2 x 24 fills the 15 registers that V8 gives out, and has the fewest instructions a
 * multiply-add: x is splatted at an address of its own each time, while the panel's loads take
 * offsets. */
#ifndef HEED_CPU_SIMD_RELAXED_H
#define HEED_CPU_SIMD_RELAXED_H

#include "cpu/simd/wasm.h"

#define HEED_CPU_SYMBOL(name) name##_relaxed
#define HEED_SIMD_NAME "relaxed"
#define HEED_SIMD_LABEL "WASM relaxed SIMD"
#define HEED_SIMD_WIDTH 4
#define HEED_TILE_ROWS 2
#define HEED_TILE_VECTORS 6
#define HEED_TILE_NARROW 0
#define HEED_SIMD_PREFETCHES 0
#define HEED_SIMD_HALF "cpu/simd/wasm_half.h"
#define HEED_SIMD_INT8 "cpu/simd/wasm_int8.h"
#define HEED_INT8_PAIR_ROWS 4
#define HEED_INT8_MOST_ROWS 6
#define HEED_INT8_WIDE 0
#define HEED_SIMD_DOT "cpu/simd/wasm_dot.h"
#define HEED_SIMD_DOT_NAME HEED_SIMD_NAME "udot"
#define HEED_SIMD_DOT_LABEL HEED_SIMD_LABEL " and dot products"

static inline __attribute__((always_inline)) f32xN f32_fma(f32xN a, f32xN b, f32xN c) {
  return wasm_f32x4_relaxed_madd(a, b, c);
}

#endif
