/* WebAssembly SIMD128: four floats, no fused multiply-add. The tile of 4 x 8 is the largest that
 * engines keep in registers where a product takes one for itself. */
#ifndef HEED_CPU_SIMD_WASM128_H
#define HEED_CPU_SIMD_WASM128_H

#include "cpu/simd/wasm.h"

#define HEED_CPU_SYMBOL(name) name##_wasm128
#define HEED_SIMD_NAME "wasm128"
#define HEED_SIMD_LABEL "WASM SIMD"
#define HEED_SIMD_WIDTH 4
#define HEED_TILE_ROWS 4
#define HEED_TILE_VECTORS 2
#define HEED_TILE_NARROW 0
#define HEED_SIMD_PREFETCHES 0
#define HEED_SIMD_HALF "cpu/simd/wasm_half.h"
#define HEED_SIMD_INT8 "cpu/simd/wasm_int8.h"
#define HEED_INT8_PAIR_ROWS 5
#define HEED_INT8_MOST_ROWS 5
#define HEED_INT8_WIDE 0

static inline __attribute__((always_inline)) f32xN f32_fma(f32xN a, f32xN b, f32xN c) {
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}

#endif
