/* The word of half.h for WebAssembly. */
#ifndef HEED_CPU_SIMD_WASM_HALF_H
#define HEED_CPU_SIMD_WASM_HALF_H

/* The bits of such a number are those of a float 2^112 times as small, but for Inf and NaN. */
static inline f32xN f32_widen(const uint16_t *p) {
  const v128_t bits = wasm_u32x4_load16x4(p),
               magnitude = wasm_v128_and(bits, wasm_i32x4_splat(0x7FFF)),
               number = wasm_f32x4_mul(wasm_i32x4_shl(magnitude, 13), wasm_f32x4_splat(0x1p112f)),
               special = wasm_v128_and(wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x7BFF)),
                                       wasm_i32x4_splat(0x7F800000));
  return wasm_v128_or(wasm_v128_or(number, special),
                      wasm_i32x4_shl(wasm_v128_xor(bits, magnitude), 16));
}

#endif
