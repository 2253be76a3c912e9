/* The three passes of a softmax over one row, as softmax and attention share them. */
#ifndef HEED_CPU_SOFTMAX_ROW_H
#define HEED_CPU_SOFTMAX_ROW_H

#include <math.h>

#include "cpu/gemm.h"
#include "cpu/simd/maths.h"

/* The largest element; where some are NaN, any of them or NaN. */
static inline float heed_cpu_max_row(const float *x, size_t count) {
  f32xN most = f32_set1(-INFINITY), other = most;
  size_t i = 0;
  for (; i + 2 * HEED_SIMD_WIDTH <= count; i += 2 * HEED_SIMD_WIDTH) {
    most = f32_max(f32_load(x + i), most);
    other = f32_max(f32_load(x + i + HEED_SIMD_WIDTH), other);
  }
  float result = f32_reduce_max(f32_max(most, other));
  for (; i < count; i++) result = x[i] > result ? x[i] : result;
  return result;
}

/* y = exp(x - shift), and its sum; x and y may be the same. */
static inline float heed_cpu_exp_row(const float *x, size_t count, float shift, float *y) {
  const f32xN away = f32_set1(shift);
  f32xN sum = f32_set1(0.0f), other = sum;
  size_t i = 0;
  for (; i + 2 * HEED_SIMD_WIDTH <= count; i += 2 * HEED_SIMD_WIDTH) {
    const f32xN a = f32_exp(f32_sub(f32_load(x + i), away)), b = f32_exp(f32_sub(f32_load(x + i + HEED_SIMD_WIDTH), away));
    f32_store(y + i, a);
    f32_store(y + i + HEED_SIMD_WIDTH, b);
    sum = f32_add(sum, a);
    other = f32_add(other, b);
  }
  float total = f32_reduce_add(f32_add(sum, other));
  for (; i < count; i += HEED_SIMD_WIDTH) {
    const size_t left = count - i;
    const uint32_t rest = left < HEED_SIMD_WIDTH ? (uint32_t)left : HEED_SIMD_WIDTH;
    float lanes[HEED_SIMD_WIDTH];
    f32_store(lanes, f32_exp(f32_sub(f32_load_tail(x + i, rest), away)));
    for (uint32_t u = 0; u < rest; u++) total += y[i + u] = lanes[u];
  }
  return total;
}

/* y = x factor; x and y may be the same. */
static inline void heed_cpu_scale_row(const float *x, size_t count, float factor, float *y) {
  const f32xN by = f32_set1(factor);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH) f32_store(y + i, f32_mul(f32_load(x + i), by));
  for (; i < count; i++) y[i] = x[i] * factor;
}

#endif
