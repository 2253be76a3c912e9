/* One float at a time: the reference that every other level is compared with. */
#ifndef HEED_CPU_SIMD_SCALAR_H
#define HEED_CPU_SIMD_SCALAR_H

#include <math.h>
#include <string.h>

#define HEED_CPU_SYMBOL(name) name##_scalar
#define HEED_SIMD_NAME "scalar"
#define HEED_SIMD_LABEL "scalar"
#define HEED_SIMD_WIDTH 1
#define HEED_TILE_ROWS 4
#define HEED_TILE_VECTORS 2
#define HEED_TILE_NARROW 0
#define HEED_SIMD_PREFETCHES 1
#define HEED_SIMD_HALF "cpu/simd/lanes_half.h"
#define HEED_SIMD_INT8 "cpu/simd/scalar_int8.h"
#define HEED_INT8_PAIR_ROWS 4
#define HEED_INT8_MOST_ROWS 4
#define HEED_INT8_WIDE 0

typedef float f32xN;

static inline f32xN f32_load(const float *p) { return *p; }
static inline void f32_store(float *p, f32xN a) { *p = a; }
static inline f32xN f32_load_tail(const float *p, uint32_t n) {
  (void)n;
  return *p;
}
static inline void f32_store_tail(float *p, f32xN a, uint32_t n) {
  (void)n;
  *p = a;
}
static inline f32xN f32_set1(float x) { return x; }
static inline f32xN f32_add(f32xN a, f32xN b) { return a + b; }
static inline f32xN f32_sub(f32xN a, f32xN b) { return a - b; }
static inline f32xN f32_mul(f32xN a, f32xN b) { return a * b; }
static inline f32xN f32_div(f32xN a, f32xN b) { return a / b; }
static inline f32xN f32_sqrt(f32xN a) { return sqrtf(a); }
static inline f32xN f32_abs(f32xN a) { return fabsf(a); }
static inline f32xN f32_max(f32xN a, f32xN b) { return a > b ? a : b; }
static inline f32xN f32_min(f32xN a, f32xN b) { return a < b ? a : b; }
static inline f32xN f32_fma(f32xN a, f32xN b, f32xN c) { return a * b + c; }
static inline f32xN f32_copysign(f32xN magnitude, f32xN sign) { return copysignf(magnitude, sign); }
static inline f32xN f32_select_less(f32xN a, f32xN b, f32xN yes, f32xN no) {
  return a < b ? yes : no;
}
static inline f32xN f32_pow2(f32xN t) {
  uint32_t bits;
  float power;
  memcpy(&bits, &t, sizeof bits);
  bits = (bits << 23) + 0x3F800000u;
  memcpy(&power, &bits, sizeof power);
  return power;
}
static inline float f32_reduce_add(f32xN a) { return a; }
static inline float f32_reduce_max(f32xN a) { return a; }
static inline void f32_transpose(f32xN rows[HEED_SIMD_WIDTH]) { (void)rows; }

#endif
