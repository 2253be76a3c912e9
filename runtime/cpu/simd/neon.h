/* AArch64's NEON: four floats, fused multiply-add. */
#ifndef HEED_CPU_SIMD_NEON_H
#define HEED_CPU_SIMD_NEON_H

#include <arm_neon.h>

#define HEED_CPU_SYMBOL(name) name##_neon
#define HEED_SIMD_NAME "neon"
#define HEED_SIMD_LABEL "NEON"
#define HEED_SIMD_WIDTH 4
#define HEED_TILE_ROWS 8
#define HEED_TILE_VECTORS 2
#define HEED_TILE_NARROW 1
#define HEED_SIMD_PREFETCHES 1
#define HEED_SIMD_HALF "cpu/simd/lanes_half.h"
#define HEED_SIMD_INT8 "cpu/simd/neon_int8.h"
#define HEED_INT8_PAIR_ROWS 8
#define HEED_INT8_MOST_ROWS 8
#define HEED_INT8_WIDE 0
#define HEED_SIMD_DOT "cpu/simd/neon_dot.h"
#define HEED_SIMD_DOT_NAME HEED_SIMD_NAME "dot"
#define HEED_SIMD_DOT_LABEL HEED_SIMD_LABEL " and dot products"

typedef float32x4_t f32xN;

static inline f32xN f32_load(const float *p) { return vld1q_f32(p); }
static inline void f32_store(float *p, f32xN a) { vst1q_f32(p, a); }
static inline f32xN f32_load_tail(const float *p, uint32_t n) {
  float lanes[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (uint32_t i = 0; i < n && i < 4; i++) lanes[i] = p[i];
  return vld1q_f32(lanes);
}
static inline void f32_store_tail(float *p, f32xN a, uint32_t n) {
  float lanes[4];
  vst1q_f32(lanes, a);
  for (uint32_t i = 0; i < n && i < 4; i++) p[i] = lanes[i];
}
static inline f32xN f32_set1(float x) { return vdupq_n_f32(x); }
static inline f32xN f32_add(f32xN a, f32xN b) { return vaddq_f32(a, b); }
static inline f32xN f32_sub(f32xN a, f32xN b) { return vsubq_f32(a, b); }
static inline f32xN f32_mul(f32xN a, f32xN b) { return vmulq_f32(a, b); }
static inline f32xN f32_div(f32xN a, f32xN b) { return vdivq_f32(a, b); }
static inline f32xN f32_sqrt(f32xN a) { return vsqrtq_f32(a); }
static inline f32xN f32_abs(f32xN a) { return vabsq_f32(a); }
static inline f32xN f32_max(f32xN a, f32xN b) { return vmaxq_f32(a, b); }
static inline f32xN f32_min(f32xN a, f32xN b) { return vminq_f32(a, b); }
static inline f32xN f32_fma(f32xN a, f32xN b, f32xN c) { return vfmaq_f32(c, a, b); }
static inline f32xN f32_copysign(f32xN magnitude, f32xN sign) {
  return vbslq_f32(vdupq_n_u32(0x80000000u), sign, magnitude);
}
static inline f32xN f32_select_less(f32xN a, f32xN b, f32xN yes, f32xN no) {
  return vbslq_f32(vcltq_f32(a, b), yes, no);
}
static inline f32xN f32_pow2(f32xN t) {
  return vreinterpretq_f32_s32(
      vaddq_s32(vshlq_n_s32(vreinterpretq_s32_f32(t), 23), vdupq_n_s32(0x3F800000)));
}
static inline float f32_reduce_add(f32xN a) {
  const float32x2_t two = vadd_f32(vget_low_f32(a), vget_high_f32(a));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
static inline float f32_reduce_max(f32xN a) { return vmaxvq_f32(a); }
static inline void f32_transpose(f32xN rows[HEED_SIMD_WIDTH]) {
  const float32x4x2_t low = vtrnq_f32(rows[0], rows[1]), high = vtrnq_f32(rows[2], rows[3]);
  rows[0] = vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0]));
  rows[1] = vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1]));
  rows[2] = vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0]));
  rows[3] = vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1]));
}

#endif
