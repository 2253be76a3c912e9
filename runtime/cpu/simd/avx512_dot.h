/* The words of dot products of bytes (int8.h) for AVX-512 with VNNI. */
#ifndef HEED_CPU_SIMD_AVX512_DOT_H
#define HEED_CPU_SIMD_AVX512_DOT_H

#include "cpu/simd/int8.h"

#define HEED_INT8_DOT_FLIP 0u

typedef i32xN dot_sums;
typedef i8_operand dot_operand;
static inline dot_sums dot_zero(void) { return i32_zero(); }
static inline void dot_store(int32_t *p, dot_sums a) { i32_store(p, a); }
static inline dot_operand dot_row(const unsigned char *p) { return i8_row(p); }
static inline __m512i dot_weights(const int8_t *p) { return _mm512_loadu_si512(p); }
static inline dot_sums dot_add(dot_sums sum, __m512i x, __m512i w) {
  return _mm512_dpbusd_epi32(sum, x, w);
}

#endif
