/* The words of dot products of bytes (int8.h) for WebAssembly's relaxed SIMD. */
#ifndef HEED_CPU_SIMD_WASM_DOT_H
#define HEED_CPU_SIMD_WASM_DOT_H

#include "cpu/simd/int8.h"

#define HEED_INT8_DOT_FLIP 0u

typedef i32xN dot_sums;
typedef i8_operand dot_operand;
static inline dot_sums dot_zero(void) { return i32_zero(); }
static inline void dot_store(int32_t *p, dot_sums a) { i32_store(p, a); }
static inline dot_operand dot_row(const unsigned char *p) { return i8_row(p); }
static inline v128_t dot_weights(const int8_t *p) { return wasm_v128_load(p); }
static inline dot_sums dot_add(dot_sums sum, v128_t x, v128_t w) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, x, sum);
}

#endif
