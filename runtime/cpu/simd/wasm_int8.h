/* The words of int8.h for WebAssembly. */
#ifndef HEED_CPU_SIMD_WASM_INT8_H
#define HEED_CPU_SIMD_WASM_INT8_H

static inline void f32_narrow(f32xN a, uint8_t *p) {
  const v128_t whole = wasm_i32x4_trunc_sat_f32x4(a), words = wasm_i16x8_narrow_i32x4(whole, whole);
  wasm_v128_store32_lane(p, wasm_u8x16_narrow_i16x8(words, words), 0);
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  const v128_t less = wasm_i32x4_mul(wasm_v128_load(totals), wasm_i32x4_splat(zero));
  return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(wasm_v128_load(sums), less));
}

typedef v128_t i32xN;
typedef v128_t i8_operand;
static inline i32xN i32_zero(void) { return wasm_i32x4_const(0, 0, 0, 0); }
static inline void i32_store(int32_t *p, i32xN a) { wasm_v128_store(p, a); }
static inline v128_t i8_row(const unsigned char *p) { return wasm_v128_load32_splat(p); }
static inline v128_t i8_weights(const int8_t *p) { return wasm_i16x8_load8x8(p); }
static inline i32xN i8_dot(i32xN sum, v128_t x, v128_t w) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(x, w));
}

#endif
