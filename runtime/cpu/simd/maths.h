/* exp, tanh, erf and sigmoid over f32xN, each within about 2 ulp where the level fuses multiply-add. NaN comes through as NaN.
 * Sources: exp and tanh's polynomial, Moshier's Cephes (expf.c, tanhf.c); erf's, N. Juffa's erff. */
#ifndef HEED_CPU_SIMD_MATHS_H
#define HEED_CPU_SIMD_MATHS_H

#include "cpu/simd/f32xN.h"

/* exp(x) for x <= 88. Under -87.33 it is 0: no denormal ever comes out, which a later multiply would pay for. */
static inline f32xN f32_exp(f32xN x) {
  const f32xN magic = f32_set1(HEED_SIMD_MAGIC);
  const f32xN t = f32_fma(x, f32_set1(1.44269504088896341f), magic);
  const f32xN n = f32_sub(t, magic);
  /* ln 2 in two parts; the first has so few bits that n times it is exact. */
  f32xN r = f32_fma(n, f32_set1(-0.693359375f), x);
  r = f32_fma(n, f32_set1(2.12194440e-4f), r);
  f32xN p = f32_set1(1.9875691500e-4f);
  p = f32_fma(p, r, f32_set1(1.3981999507e-3f));
  p = f32_fma(p, r, f32_set1(8.3334519073e-3f));
  p = f32_fma(p, r, f32_set1(4.1665795894e-2f));
  p = f32_fma(p, r, f32_set1(1.6666665459e-1f));
  p = f32_fma(p, r, f32_set1(5.0000001201e-1f));
  p = f32_fma(f32_mul(r, r), p, r);
  p = f32_add(p, f32_set1(1.0f));
  return f32_select_less(x, f32_set1(-87.33654f), f32_set1(0.0f), f32_mul(p, f32_pow2(t)));
}

/* tanh(x) = 1 - 2 / (exp(2 |x|) + 1) with x's sign; near 0 a polynomial, where that would cancel. */
static inline f32xN f32_tanh(f32xN x) {
  const f32xN size = f32_abs(x), square = f32_mul(x, x);
  f32xN near = f32_set1(-5.70498872745e-3f);
  near = f32_fma(near, square, f32_set1(2.06390887954e-2f));
  near = f32_fma(near, square, f32_set1(-5.37397155531e-2f));
  near = f32_fma(near, square, f32_set1(1.33314422036e-1f));
  near = f32_fma(near, square, f32_set1(-3.33332819422e-1f));
  near = f32_fma(f32_mul(near, square), x, x);
  /* exp(-2 |x|) stays in range for every x: (1 - e) / (1 + e). */
  const f32xN e = f32_exp(f32_mul(size, f32_set1(-2.0f)));
  const f32xN far = f32_div(f32_sub(f32_set1(1.0f), e), f32_add(f32_set1(1.0f), e));
  return f32_select_less(size, f32_set1(0.625f), near, f32_copysign(far, x));
}

/* 1 / (1 + exp(-x)), from exp(-|x|), which cannot overflow. */
static inline f32xN f32_sigmoid(f32xN x) {
  const f32xN one = f32_set1(1.0f);
  const f32xN e = f32_exp(f32_sub(f32_set1(0.0f), f32_abs(x)));
  return f32_div(f32_select_less(x, f32_set1(0.0f), e, one), f32_add(one, e));
}

/* erf: a polynomial in x^2 up to 0.9277, then 1 - exp(polynomial in |x|). */
HEED_FLATTEN static inline f32xN f32_erf(f32xN x) {
  const f32xN size = f32_abs(x), square = f32_mul(x, x);
  f32xN near = f32_set1(-5.96761703e-4f);
  near = f32_fma(near, square, f32_set1(4.99119423e-3f));
  near = f32_fma(near, square, f32_set1(-2.67681349e-2f));
  near = f32_fma(near, square, f32_set1(1.12819925e-1f));
  near = f32_fma(near, square, f32_set1(-3.76125336e-1f));
  near = f32_fma(near, square, f32_set1(1.28379166e-1f));
  near = f32_fma(near, x, x);
  /* From 4 on erf is 1 in F32; the cut keeps the polynomial's powers finite. NaN is not less than 4. */
  const f32xN cut = f32_select_less(f32_set1(4.0f), size, f32_set1(4.0f), size), cut_square = f32_mul(cut, cut);
  f32xN far = f32_fma(f32_set1(-1.72853470e-5f), cut, f32_set1(3.83197126e-4f));
  const f32xN odd = f32_fma(f32_set1(-3.88396438e-3f), cut, f32_set1(2.42546219e-2f));
  far = f32_fma(far, cut_square, odd);
  far = f32_fma(far, cut, f32_set1(-1.06777877e-1f));
  far = f32_fma(far, cut, f32_set1(-6.34846687e-1f));
  far = f32_fma(far, cut, f32_set1(-1.28717512e-1f));
  far = f32_fma(far, cut, f32_sub(f32_set1(0.0f), cut));
  far = f32_sub(f32_set1(1.0f), f32_exp(far));
  return f32_select_less(size, f32_set1(0.927734375f), near, f32_copysign(far, x));
}

#endif
