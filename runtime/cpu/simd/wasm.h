/* Four floats of WebAssembly: the words that its levels share, all but fma. */
#ifndef HEED_CPU_SIMD_WASM_H
#define HEED_CPU_SIMD_WASM_H

#include <wasm_simd128.h>

typedef v128_t f32xN;

/* Inline in files built for size too. */
#define WORD static inline __attribute__((always_inline))

WORD f32xN f32_load(const float *p) { return wasm_v128_load(p); }
WORD void f32_store(float *p, f32xN a) { wasm_v128_store(p, a); }
static inline f32xN f32_load_tail(const float *p, uint32_t n) {
  if (n == 1) return wasm_v128_load32_zero(p);
  if (n >= 4) return wasm_v128_load(p);
  const v128_t two = wasm_v128_load64_zero(p);
  return n == 2 ? two : wasm_v128_load32_lane(p + 2, two, 2);
}
static inline void f32_store_tail(float *p, f32xN a, uint32_t n) {
  if (n >= 4)
    wasm_v128_store(p, a);
  else if (n == 1)
    wasm_v128_store32_lane(p, a, 0);
  else {
    wasm_v128_store64_lane(p, a, 0);
    if (n == 3) wasm_v128_store32_lane(p + 2, a, 2);
  }
}
WORD f32xN f32_set1(float x) { return wasm_f32x4_splat(x); }
WORD f32xN f32_add(f32xN a, f32xN b) { return wasm_f32x4_add(a, b); }
WORD f32xN f32_sub(f32xN a, f32xN b) { return wasm_f32x4_sub(a, b); }
WORD f32xN f32_mul(f32xN a, f32xN b) { return wasm_f32x4_mul(a, b); }
WORD f32xN f32_div(f32xN a, f32xN b) { return wasm_f32x4_div(a, b); }
WORD f32xN f32_sqrt(f32xN a) { return wasm_f32x4_sqrt(a); }
WORD f32xN f32_abs(f32xN a) { return wasm_f32x4_abs(a); }
WORD f32xN f32_max(f32xN a, f32xN b) { return wasm_f32x4_pmax(a, b); }
WORD f32xN f32_min(f32xN a, f32xN b) { return wasm_f32x4_pmin(a, b); }
WORD f32xN f32_copysign(f32xN magnitude, f32xN sign) {
  return wasm_v128_bitselect(sign, magnitude, wasm_i32x4_splat(INT32_MIN));
}
WORD f32xN f32_select_less(f32xN a, f32xN b, f32xN yes, f32xN no) {
  return wasm_v128_bitselect(yes, no, wasm_f32x4_lt(a, b));
}
WORD f32xN f32_pow2(f32xN t) {
  return wasm_i32x4_add(wasm_i32x4_shl(t, 23), wasm_i32x4_splat(0x3F800000));
}
WORD float f32_reduce_add(f32xN a) {
  const v128_t two = wasm_f32x4_add(a, wasm_i32x4_shuffle(a, a, 2, 3, 0, 1));
  return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
}
WORD float f32_reduce_max(f32xN a) {
  const v128_t two = wasm_f32x4_pmax(a, wasm_i32x4_shuffle(a, a, 2, 3, 0, 1));
  const float x = wasm_f32x4_extract_lane(two, 0), y = wasm_f32x4_extract_lane(two, 1);
  return x > y ? x : y;
}
WORD void f32_transpose(f32xN rows[4]) {
  const v128_t a = wasm_i32x4_shuffle(rows[0], rows[1], 0, 4, 1, 5),
               b = wasm_i32x4_shuffle(rows[0], rows[1], 2, 6, 3, 7);
  const v128_t c = wasm_i32x4_shuffle(rows[2], rows[3], 0, 4, 1, 5),
               d = wasm_i32x4_shuffle(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = wasm_i32x4_shuffle(a, c, 0, 1, 4, 5);
  rows[1] = wasm_i32x4_shuffle(a, c, 2, 3, 6, 7);
  rows[2] = wasm_i32x4_shuffle(b, d, 0, 1, 4, 5);
  rows[3] = wasm_i32x4_shuffle(b, d, 2, 3, 6, 7);
}

#undef WORD

#endif
