/* AVX-512 (F, DQ, BW, VL): sixteen floats. */
#ifndef HEED_CPU_SIMD_AVX512_H
#define HEED_CPU_SIMD_AVX512_H

#include <immintrin.h>

#define HEED_CPU_SYMBOL(name) name##_avx512
#define HEED_SIMD_NAME "avx512"
#define HEED_SIMD_LABEL "AVX-512"
#define HEED_SIMD_WIDTH 16
#define HEED_TILE_ROWS 12
#define HEED_TILE_VECTORS 2
#define HEED_TILE_NARROW 1
#define HEED_SIMD_PREFETCHES 1
#define HEED_SIMD_HALF "cpu/simd/lanes_half.h"
#define HEED_SIMD_INT8 "cpu/simd/avx512_int8.h"
#define HEED_INT8_PAIR_ROWS 12
#define HEED_INT8_MOST_ROWS 12
#define HEED_INT8_WIDE 0
#define HEED_SIMD_DOT "cpu/simd/avx512_dot.h"
#define HEED_SIMD_DOT_NAME HEED_SIMD_NAME "vnni"
#define HEED_SIMD_DOT_LABEL HEED_SIMD_LABEL " VNNI"

typedef __m512 f32xN;

static inline __mmask16 heed_avx512_mask(uint32_t n) { return (__mmask16)((1u << n) - 1u); }

static inline f32xN f32_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void f32_store(float *p, f32xN a) { _mm512_storeu_ps(p, a); }
static inline f32xN f32_load_tail(const float *p, uint32_t n) {
  return _mm512_maskz_loadu_ps(heed_avx512_mask(n), p);
}
static inline void f32_store_tail(float *p, f32xN a, uint32_t n) {
  _mm512_mask_storeu_ps(p, heed_avx512_mask(n), a);
}
static inline f32xN f32_set1(float x) { return _mm512_set1_ps(x); }
static inline f32xN f32_add(f32xN a, f32xN b) { return _mm512_add_ps(a, b); }
static inline f32xN f32_sub(f32xN a, f32xN b) { return _mm512_sub_ps(a, b); }
static inline f32xN f32_mul(f32xN a, f32xN b) { return _mm512_mul_ps(a, b); }
static inline f32xN f32_div(f32xN a, f32xN b) { return _mm512_div_ps(a, b); }
static inline f32xN f32_sqrt(f32xN a) { return _mm512_maskz_sqrt_ps((__mmask16)0xFFFF, a); }
static inline f32xN f32_abs(f32xN a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a); }
static inline f32xN f32_max(f32xN a, f32xN b) {
  return _mm512_maskz_max_ps((__mmask16)0xFFFF, a, b);
}
static inline f32xN f32_min(f32xN a, f32xN b) {
  return _mm512_maskz_min_ps((__mmask16)0xFFFF, a, b);
}
static inline f32xN f32_fma(f32xN a, f32xN b, f32xN c) { return _mm512_fmadd_ps(a, b, c); }
static inline f32xN f32_copysign(f32xN magnitude, f32xN sign) {
  const __m512 bit = _mm512_set1_ps(-0.0f);
  return _mm512_or_ps(_mm512_andnot_ps(bit, magnitude), _mm512_and_ps(bit, sign));
}
static inline f32xN f32_select_less(f32xN a, f32xN b, f32xN yes, f32xN no) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}
static inline f32xN f32_pow2(f32xN t) {
  const __m512i shifted = _mm512_maskz_slli_epi32((__mmask16)0xFFFF, _mm512_castps_si512(t), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(shifted, _mm512_set1_epi32(0x3F800000)));
}
static inline __m256 heed_avx512_high(f32xN a) {
  return _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd((__mmask8)0xFF, _mm512_castps_pd(a), 1));
}
static inline float f32_reduce_add(f32xN a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), heed_avx512_high(a));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline float f32_reduce_max(f32xN a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a), heed_avx512_high(a));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
/* The masked forms of the shuffles are those without an undefined source, which some compilers warn
 * of. */
#define HEED_AVX512_ALL ((__mmask16)0xFFFF)
static inline void f32_transpose(f32xN rows[HEED_SIMD_WIDTH]) {
  __m512 pairs[16], quads[16], halves[16];
  for (int i = 0; i < 8; i++) {
    pairs[2 * i] = _mm512_maskz_unpacklo_ps(HEED_AVX512_ALL, rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm512_maskz_unpackhi_ps(HEED_AVX512_ALL, rows[2 * i], rows[2 * i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    quads[i] = _mm512_maskz_shuffle_ps(HEED_AVX512_ALL, pairs[i], pairs[i + 2], 0x44);
    quads[i + 1] = _mm512_maskz_shuffle_ps(HEED_AVX512_ALL, pairs[i], pairs[i + 2], 0xEE);
    quads[i + 2] = _mm512_maskz_shuffle_ps(HEED_AVX512_ALL, pairs[i + 1], pairs[i + 3], 0x44);
    quads[i + 3] = _mm512_maskz_shuffle_ps(HEED_AVX512_ALL, pairs[i + 1], pairs[i + 3], 0xEE);
  }
  for (int i = 0; i < 4; i++) {
    halves[i] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, quads[i], quads[i + 4], 0x88);
    halves[i + 4] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, quads[i], quads[i + 4], 0xDD);
    halves[i + 8] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, quads[i + 8], quads[i + 12], 0x88);
    halves[i + 12] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, quads[i + 8], quads[i + 12], 0xDD);
  }
  for (int i = 0; i < 4; i++) {
    rows[i] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, halves[i], halves[i + 8], 0x88);
    rows[i + 8] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, halves[i], halves[i + 8], 0xDD);
    rows[i + 4] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, halves[i + 4], halves[i + 12], 0x88);
    rows[i + 12] = _mm512_maskz_shuffle_f32x4(HEED_AVX512_ALL, halves[i + 4], halves[i + 12], 0xDD);
  }
}

#endif
