/* AVX2 with FMA: eight floats. */
#ifndef HEED_CPU_SIMD_AVX2_H
#define HEED_CPU_SIMD_AVX2_H

#include <immintrin.h>

#define HEED_CPU_SYMBOL(name) name##_avx2
#define HEED_SIMD_NAME "avx2"
#define HEED_SIMD_LABEL "AVX2"
#define HEED_SIMD_WIDTH 8
#define HEED_TILE_ROWS 6
#define HEED_TILE_VECTORS 2
#define HEED_TILE_NARROW 1
#define HEED_SIMD_PREFETCHES 1
#define HEED_SIMD_HALF "cpu/simd/lanes_half.h"
#define HEED_SIMD_INT8 "cpu/simd/avx2_int8.h"
#define HEED_INT8_PAIR_ROWS 6
#define HEED_INT8_MOST_ROWS 6
#define HEED_INT8_WIDE 1
#define HEED_SIMD_DOT "cpu/simd/avx2_dot.h"
#define HEED_SIMD_DOT_NAME HEED_SIMD_NAME "vnni"
#define HEED_SIMD_DOT_LABEL HEED_SIMD_LABEL " VNNI"

typedef __m256 f32xN;

/* All ones in the first n lanes. */
static inline __m256i heed_avx2_mask(uint32_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline f32xN f32_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void f32_store(float *p, f32xN a) { _mm256_storeu_ps(p, a); }
static inline f32xN f32_load_tail(const float *p, uint32_t n) {
  return _mm256_maskload_ps(p, heed_avx2_mask(n));
}
static inline void f32_store_tail(float *p, f32xN a, uint32_t n) {
  _mm256_maskstore_ps(p, heed_avx2_mask(n), a);
}
static inline f32xN f32_set1(float x) { return _mm256_set1_ps(x); }
static inline f32xN f32_add(f32xN a, f32xN b) { return _mm256_add_ps(a, b); }
static inline f32xN f32_sub(f32xN a, f32xN b) { return _mm256_sub_ps(a, b); }
static inline f32xN f32_mul(f32xN a, f32xN b) { return _mm256_mul_ps(a, b); }
static inline f32xN f32_div(f32xN a, f32xN b) { return _mm256_div_ps(a, b); }
static inline f32xN f32_sqrt(f32xN a) { return _mm256_sqrt_ps(a); }
static inline f32xN f32_abs(f32xN a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline f32xN f32_max(f32xN a, f32xN b) { return _mm256_max_ps(a, b); }
static inline f32xN f32_min(f32xN a, f32xN b) { return _mm256_min_ps(a, b); }
static inline f32xN f32_fma(f32xN a, f32xN b, f32xN c) { return _mm256_fmadd_ps(a, b, c); }
static inline f32xN f32_copysign(f32xN magnitude, f32xN sign) {
  const __m256 bit = _mm256_set1_ps(-0.0f);
  return _mm256_or_ps(_mm256_andnot_ps(bit, magnitude), _mm256_and_ps(bit, sign));
}
static inline f32xN f32_select_less(f32xN a, f32xN b, f32xN yes, f32xN no) {
  return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline f32xN f32_pow2(f32xN t) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(t), 23),
                                              _mm256_set1_epi32(0x3F800000)));
}
static inline float f32_reduce_add(f32xN a) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline float f32_reduce_max(f32xN a) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline void f32_transpose(f32xN rows[HEED_SIMD_WIDTH]) {
  __m256 pairs[8], quads[8];
  for (int i = 0; i < 4; i++) {
    pairs[2 * i] = _mm256_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm256_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    quads[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    quads[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xEE);
    quads[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    quads[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xEE);
  }
  for (int i = 0; i < 4; i++) {
    rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
}

#endif
