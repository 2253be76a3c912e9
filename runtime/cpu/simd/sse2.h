/* x86-64's floor: four floats, no fused multiply-add. */
#ifndef HEED_CPU_SIMD_SSE2_H
#define HEED_CPU_SIMD_SSE2_H

#include <emmintrin.h>

#define HEED_CPU_SYMBOL(name) name##_sse2
#define HEED_SIMD_NAME "sse2"
#define HEED_SIMD_LABEL "SSE2"
#define HEED_SIMD_WIDTH 4
#define HEED_TILE_ROWS 4
#define HEED_TILE_VECTORS 2
#define HEED_TILE_NARROW 1
#define HEED_SIMD_PREFETCHES 1
#define HEED_SIMD_HALF "cpu/simd/lanes_half.h"
#define HEED_SIMD_INT8 "cpu/simd/sse2_int8.h"
#define HEED_INT8_PAIR_ROWS 4
#define HEED_INT8_MOST_ROWS 4
#define HEED_INT8_WIDE 0

typedef __m128 f32xN;

static inline f32xN f32_load(const float *p) { return _mm_loadu_ps(p); }
static inline void f32_store(float *p, f32xN a) { _mm_storeu_ps(p, a); }
static inline f32xN f32_load_tail(const float *p, uint32_t n) {
  float lanes[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (uint32_t i = 0; i < n && i < 4; i++) lanes[i] = p[i];
  return _mm_loadu_ps(lanes);
}
static inline void f32_store_tail(float *p, f32xN a, uint32_t n) {
  float lanes[4];
  _mm_storeu_ps(lanes, a);
  for (uint32_t i = 0; i < n && i < 4; i++) p[i] = lanes[i];
}
static inline f32xN f32_set1(float x) { return _mm_set1_ps(x); }
static inline f32xN f32_add(f32xN a, f32xN b) { return _mm_add_ps(a, b); }
static inline f32xN f32_sub(f32xN a, f32xN b) { return _mm_sub_ps(a, b); }
static inline f32xN f32_mul(f32xN a, f32xN b) { return _mm_mul_ps(a, b); }
static inline f32xN f32_div(f32xN a, f32xN b) { return _mm_div_ps(a, b); }
static inline f32xN f32_sqrt(f32xN a) { return _mm_sqrt_ps(a); }
static inline f32xN f32_abs(f32xN a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
static inline f32xN f32_max(f32xN a, f32xN b) { return _mm_max_ps(a, b); }
static inline f32xN f32_min(f32xN a, f32xN b) { return _mm_min_ps(a, b); }
static inline f32xN f32_fma(f32xN a, f32xN b, f32xN c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
static inline f32xN f32_copysign(f32xN magnitude, f32xN sign) {
  const __m128 bit = _mm_set1_ps(-0.0f);
  return _mm_or_ps(_mm_andnot_ps(bit, magnitude), _mm_and_ps(bit, sign));
}
static inline f32xN f32_select_less(f32xN a, f32xN b, f32xN yes, f32xN no) {
  const __m128 mask = _mm_cmplt_ps(a, b);
  return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}
static inline f32xN f32_pow2(f32xN t) {
  return _mm_castsi128_ps(
      _mm_add_epi32(_mm_slli_epi32(_mm_castps_si128(t), 23), _mm_set1_epi32(0x3F800000)));
}
static inline float f32_reduce_add(f32xN a) {
  const __m128 two = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline float f32_reduce_max(f32xN a) {
  const __m128 two = _mm_max_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline void f32_transpose(f32xN rows[HEED_SIMD_WIDTH]) {
  _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
}

#endif
