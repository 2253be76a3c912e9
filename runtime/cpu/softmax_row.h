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
  /* What is left over is in the last two vectors of the row, which may overlap what was looked
   * at. */
  if (count >= 2 * HEED_SIMD_WIDTH) {
    most = f32_max(f32_load(x + count - HEED_SIMD_WIDTH), most);
    other = f32_max(f32_load(x + count - 2 * HEED_SIMD_WIDTH), other);
    i = count;
  }
  float result = f32_reduce_max(f32_max(most, other));
  for (; i < count; i++) result = x[i] > result ? x[i] : result;
  return result;
}

/* y = exp(x - shift) over whole pairs of vectors, and its sum. */
HEED_FLATTEN static inline float heed_cpu_exp_pairs(const float *x, size_t count, f32xN shift,
                                                    float *y) {
  f32xN sum = f32_set1(0.0f), other = sum;
  for (size_t i = 0; i < count; i += 2 * HEED_SIMD_WIDTH) {
    const f32xN a = f32_exp(f32_sub(f32_load(x + i), shift)),
                b = f32_exp(f32_sub(f32_load(x + i + HEED_SIMD_WIDTH), shift));
    f32_store(y + i, a);
    f32_store(y + i + HEED_SIMD_WIDTH, b);
    sum = f32_add(sum, a);
    other = f32_add(other, b);
  }
  return f32_reduce_add(f32_add(sum, other));
}

/* y = exp(x - shift), and its sum; x and y may be the same. Summed in blocks, so that the error
 * does not grow with the row. */
static inline float heed_cpu_exp_row(const float *x, size_t count, float shift, float *y) {
  const size_t block = 64 * HEED_SIMD_WIDTH, pairs = count - count % (2 * HEED_SIMD_WIDTH);
  const f32xN away = f32_set1(shift);
  float total = 0.0f;
  size_t i = 0;
  for (; i < pairs; i += block)
    total += heed_cpu_exp_pairs(x + i, pairs - i < block ? pairs - i : block, away, y + i);
  f32xN last = f32_set1(0.0f);
  for (i = pairs; i < count; i += HEED_SIMD_WIDTH) {
    const uint32_t rest = count - i < HEED_SIMD_WIDTH ? (uint32_t)(count - i) : HEED_SIMD_WIDTH;
    f32_store_tail(y + i, f32_exp(f32_sub(f32_load_tail(x + i, rest), away)), rest);
    last = f32_add(last, f32_load_tail(y + i, rest));
  }
  return total + f32_reduce_add(last);
}

/* y = x factor; x and y may be the same. */
static inline void heed_cpu_scale_row(const float *x, size_t count, float factor, float *y) {
  const f32xN by = f32_set1(factor);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH)
    f32_store(y + i, f32_mul(f32_load(x + i), by));
  if (i < count)
    f32_store_tail(y + i, f32_mul(f32_load_tail(x + i, (uint32_t)(count - i)), by),
                   (uint32_t)(count - i));
}

#endif
