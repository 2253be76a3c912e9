/* The words of bf16, on AVX-512 with AVX512_BF16. bf16xN is a vector of HEED_SIMD_WIDTH pairs:
 *   round(p, n)     the pairs (p[0], p[1]), (p[2], p[3]) ... of n floats, to nearest even, as a
 *                   vector of words; missing ones are 0
 *   pair(p)         one pair in every lane
 *   load(p)         HEED_SIMD_WIDTH pairs
 *   dot(sum, a, b)  sum + a0 b0 + a1 b1, lane by lane */
#ifndef HEED_CPU_SIMD_BF16_H
#define HEED_CPU_SIMD_BF16_H

#include <string.h>

#include "cpu/simd/f32xN.h"

typedef __m512bh bf16xN;

static inline f32xN bf16_round(const float *p, size_t n) {
  const uint32_t width = HEED_SIMD_WIDTH;
  const f32xN none = f32_set1(0.0f), low = n < width ? f32_load_tail(p, (uint32_t)n) : f32_load(p),
              high = n >= 2 * width ? f32_load(p + width)
                     : n > width    ? f32_load_tail(p + width, (uint32_t)n - width)
                                    : none;
  return _mm512_castsi512_ps((__m512i)_mm512_cvtne2ps_pbh(high, low));
}
static inline bf16xN bf16_pair(const void *p) {
  int32_t pair;
  memcpy(&pair, p, sizeof pair);
  return (bf16xN)_mm512_set1_epi32(pair);
}
static inline bf16xN bf16_load(const void *p) { return (bf16xN)_mm512_loadu_si512(p); }
static inline f32xN bf16_dot(f32xN sum, bf16xN a, bf16xN b) { return _mm512_dpbf16_ps(sum, a, b); }

#endif
