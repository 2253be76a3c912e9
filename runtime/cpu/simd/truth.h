/* Comparisons over f32xN that know NaN, and truth values: 1 and 0. */
#ifndef HEED_CPU_SIMD_TRUTH_H
#define HEED_CPU_SIMD_TRUTH_H

#include <math.h>

#include "cpu/simd/f32xN.h"

/* 1, or 0 where x is NaN: nothing is less than NaN, and NaN less than nothing. */
static inline f32xN f32_is_number(f32xN x) {
  const f32xN zero = f32_set1(0.0f), one = f32_set1(1.0f);
  return f32_select_less(x, f32_set1(INFINITY), one, f32_select_less(zero, x, one, zero));
}

/* x == 0 */
static inline f32xN f32_is_zero(f32xN x) {
  const f32xN zero = f32_set1(0.0f);
  return f32_select_less(x, zero, zero, f32_select_less(zero, x, zero, f32_is_number(x)));
}

static inline f32xN f32_choose(f32xN truth, f32xN yes, f32xN no) {
  return f32_select_less(f32_set1(0.0f), truth, yes, no);
}

/* NaN where either is NaN. */
static inline f32xN f32_minimum(f32xN a, f32xN b) {
  return f32_choose(f32_is_number(b), f32_select_less(b, a, b, a), b);
}
static inline f32xN f32_maximum(f32xN a, f32xN b) {
  return f32_choose(f32_is_number(b), f32_select_less(a, b, b, a), b);
}

#endif
