/* exp, tanh, erf, sigmoid and GELU over f32xN, each within about 2 ulp where the level fuses
 * multiply-add (GELU's negative side within 5e-8, its slope within 1.5e-7). NaN comes through as
 * NaN. Sources: exp's polynomial, and tanh's in WebAssembly, Moshier's Cephes (expf.c, tanhf.c);
 * erf's, N. Juffa's erff; those of tanh elsewhere, of GELU and of its slope are fitted to the least
 * largest error (Lawson's weighted least squares). */
#ifndef HEED_CPU_SIMD_MATHS_H
#define HEED_CPU_SIMD_MATHS_H

#include "cpu/simd/f32xN.h"

/* The constants of exp, erf, GELU and its slope. */
typedef struct heed_cpu_term_table {
  float magic, log2_e, ln2[2], exp[6], least, one; /* exp is 0 under `least` */
  float erf_near[6], erf_near_end, erf_far[7], erf_one;
  float gelu_end, tail[8], pow2[6], slope[9]; /* highest power first */
} heed_cpu_term_table;

#define HEED_CPU_TERMS                                                                    \
  {                                                                                       \
    HEED_SIMD_MAGIC, 1.44269504088896341f, {-0.693359375f, 2.12194440e-4f},               \
        {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,                            \
         4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f},                           \
        -87.33654f, 1.0f, {-5.96761703e-4f, 4.99119423e-3f,  -2.67681349e-2f,             \
                           1.12819925e-1f,  -3.76125336e-1f, 1.28379166e-1f},             \
        0.927734375f, {-1.72853470e-5f, 3.83197126e-4f,  -3.88396438e-3f, 2.42546219e-2f, \
                       -1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f},                \
        4.0f, 6.0f, {-1.09944119e-6f, 1.80704919e-5f,  -8.19835041e-5f, -3.97577620e-4f,  \
                     7.41928071e-3f,  -5.27571552e-2f, -4.59115088e-1f, -1.15111732f},    \
        {1.54758977e-4f, 1.34002836e-3f, 9.61800572e-3f,                                  \
         5.55032790e-2f, 2.40226507e-1f, 6.93147182e-1f},                                 \
    {                                                                                     \
      -1.09603352e-5f, 1.40258213e-4f, -5.61811205e-4f, -9.19859507e-4f, 2.00798288e-2f,  \
          -1.09449372e-1f, -6.36520326e-1f, -7.97892869e-1f, 1.00000012f                  \
    }                                                                                     \
  }

/* Engines of WebAssembly make a constant vector anew wherever it is used, by three instructions.
 * What comes from memory stays in a register or near the stack's top, so there the compiler must
 * not see what it is (it lies in terms.c). */
#if defined(__wasm__)
#define heed_cpu_terms HEED_CPU_SYMBOL(heed_cpu_terms)
extern const heed_cpu_term_table heed_cpu_terms;
#else
static const heed_cpu_term_table heed_cpu_terms = HEED_CPU_TERMS;
#endif

/* exp(x) for x <= 88. Under -87.33 it is 0: no denormal ever comes out, which a later multiply
 * would pay for. */
static inline f32xN f32_exp(f32xN x) {
  const f32xN magic = f32_set1(heed_cpu_terms.magic);
  const f32xN t = f32_fma(x, f32_set1(heed_cpu_terms.log2_e), magic);
  const f32xN n = f32_sub(t, magic);
  /* ln 2 in two parts; the first has so few bits that n times it is exact. */
  f32xN r = f32_fma(n, f32_set1(heed_cpu_terms.ln2[0]), x);
  r = f32_fma(n, f32_set1(heed_cpu_terms.ln2[1]), r);
  f32xN p = f32_set1(heed_cpu_terms.exp[0]);
  p = f32_fma(p, r, f32_set1(heed_cpu_terms.exp[1]));
  p = f32_fma(p, r, f32_set1(heed_cpu_terms.exp[2]));
  p = f32_fma(p, r, f32_set1(heed_cpu_terms.exp[3]));
  p = f32_fma(p, r, f32_set1(heed_cpu_terms.exp[4]));
  p = f32_fma(p, r, f32_set1(heed_cpu_terms.exp[5]));
  p = f32_fma(f32_mul(r, r), p, r);
  p = f32_add(p, f32_set1(heed_cpu_terms.one));
  return f32_select_less(x, f32_set1(heed_cpu_terms.least), f32_set1(0.0f),
                         f32_mul(p, f32_pow2(t)));
}

#if defined(__wasm__)
/* Modules of WebAssembly count bytes: f32_exp is there already. (1 - e) / (1 + e), e = exp(-2 |x|),
 * with x's sign; near 0 a polynomial, where that would cancel. */
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
#else
/* tanh(x) = H / (H + 1), H = (exp(2 |x|) - 1) / 2, with x's sign. |x| = n ln(2) / 2 + h; then H is
 * 2^n p + (2^n - 1) / 2, where p = (exp(2 h) - 1) / 2 is a polynomial. Near 0 n is 0, and nothing
 * cancels. From 10 on it is 1; NaN is not more than 10. At most 2.6 ulp off. */
static inline f32xN f32_tanh(f32xN x) {
  const f32xN size = f32_abs(x), magic = f32_set1(HEED_SIMD_MAGIC), one = f32_set1(1.0f),
              half = f32_set1(0.5f);
  const f32xN t = f32_fma(size, f32_set1(2.88539008f), magic);
  const f32xN h = f32_fma(f32_sub(t, magic), f32_set1(-0.346573591f), size);
  f32xN p = f32_fma(f32_set1(4.44020815e-2f), h, f32_set1(1.33863151e-1f));
  p = f32_fma(p, h, f32_set1(3.33338201e-1f));
  p = f32_fma(p, h, f32_set1(6.66661739e-1f));
  p = f32_fma(p, h, f32_set1(9.99999940e-1f));
  p = f32_fma(f32_mul(h, h), p, h);
  const f32xN power = f32_pow2(t), y = f32_fma(power, p, f32_fma(power, half, f32_sub(half, one)));
  return f32_copysign(f32_select_less(f32_set1(10.0f), size, one, f32_div(y, f32_add(y, one))), x);
}
#endif

/* 1 / (1 + exp(-x)), from exp(-|x|), which cannot overflow. */
static inline f32xN f32_sigmoid(f32xN x) {
  const f32xN one = f32_set1(1.0f);
  const f32xN e = f32_exp(f32_sub(f32_set1(0.0f), f32_abs(x)));
  return f32_div(f32_select_less(x, f32_set1(0.0f), e, one), f32_add(one, e));
}

/* erf: a polynomial in x^2 up to 0.9277, then 1 - exp(polynomial in |x|). */
HEED_FLATTEN static inline f32xN f32_erf(f32xN x) {
  const f32xN size = f32_abs(x), square = f32_mul(x, x);
  f32xN near = f32_set1(heed_cpu_terms.erf_near[0]);
  near = f32_fma(near, square, f32_set1(heed_cpu_terms.erf_near[1]));
  near = f32_fma(near, square, f32_set1(heed_cpu_terms.erf_near[2]));
  near = f32_fma(near, square, f32_set1(heed_cpu_terms.erf_near[3]));
  near = f32_fma(near, square, f32_set1(heed_cpu_terms.erf_near[4]));
  near = f32_fma(near, square, f32_set1(heed_cpu_terms.erf_near[5]));
  near = f32_fma(near, x, x);
  /* From 4 on erf is 1 in F32; the cut keeps the polynomial's powers finite. NaN is not less than
   * 4. */
  const f32xN cut = f32_select_less(f32_set1(heed_cpu_terms.erf_one), size,
                                    f32_set1(heed_cpu_terms.erf_one), size),
              cut_square = f32_mul(cut, cut);
  f32xN far =
      f32_fma(f32_set1(heed_cpu_terms.erf_far[0]), cut, f32_set1(heed_cpu_terms.erf_far[1]));
  const f32xN odd =
      f32_fma(f32_set1(heed_cpu_terms.erf_far[2]), cut, f32_set1(heed_cpu_terms.erf_far[3]));
  far = f32_fma(far, cut_square, odd);
  far = f32_fma(far, cut, f32_set1(heed_cpu_terms.erf_far[4]));
  far = f32_fma(far, cut, f32_set1(heed_cpu_terms.erf_far[5]));
  far = f32_fma(far, cut, f32_set1(heed_cpu_terms.erf_far[6]));
  far = f32_fma(far, cut, f32_sub(f32_set1(0.0f), cut));
  far = f32_sub(f32_set1(heed_cpu_terms.one), f32_exp(far));
  return f32_select_less(size, f32_set1(heed_cpu_terms.erf_near_end), near, f32_copysign(far, x));
}

/* Phi(-c) = 2^(c Q(c) - 1) is half of p times the power of two that t stands for; 0 <= c <= 6. */
static inline f32xN f32_normal_tail(f32xN c, f32xN *t) {
  const f32xN magic = f32_set1(heed_cpu_terms.magic);
  f32xN q = f32_set1(heed_cpu_terms.tail[0]);
  for (uint32_t i = 1; i < 8; i++) q = f32_fma(q, c, f32_set1(heed_cpu_terms.tail[i]));
  const f32xN power = f32_mul(q, c);
  *t = f32_add(power, magic);
  const f32xN r = f32_sub(power, f32_sub(*t, magic));
  f32xN p = f32_set1(heed_cpu_terms.pow2[0]);
  for (uint32_t i = 1; i < 6; i++) p = f32_fma(p, r, f32_set1(heed_cpu_terms.pow2[i]));
  return f32_fma(p, r, f32_set1(heed_cpu_terms.one));
}

/* x Phi(x) = max(x, 0) - |x| Phi(-|x|). Beyond 6 it is max(x, 0): the exact value differs by less
 * than 6e-9 there. */
HEED_FLATTEN static inline f32xN f32_gelu(f32xN x) {
  const f32xN zero = f32_set1(0.0f), end = f32_set1(heed_cpu_terms.gelu_end), size = f32_abs(x);
  const f32xN c = f32_select_less(end, size, end, size); /* keeps NaN */
  f32xN t;
  const f32xN p = f32_normal_tail(c, &t);
  const f32xN half = f32_mul(f32_mul(c, f32_set1(-0.5f)), f32_pow2(t)), above = f32_max(x, zero);
  return f32_select_less(end, size, above, f32_fma(half, p, above));
}

/* Phi(x) + x phi(x), at -c Phi(-c) R(c), at c 1 less that; R(c) = 1 - c phi(c) / Phi(-c). Beyond 6
 * it is 0 or 1, at most 4e-8 off. */
HEED_FLATTEN static inline f32xN f32_gelu_slope(f32xN x) {
  const f32xN zero = f32_set1(0.0f), one = f32_set1(heed_cpu_terms.one),
              end = f32_set1(heed_cpu_terms.gelu_end), size = f32_abs(x);
  const f32xN c = f32_select_less(end, size, end, size); /* keeps NaN */
  f32xN t, r = f32_set1(heed_cpu_terms.slope[0]);
  const f32xN p = f32_mul(f32_normal_tail(c, &t), f32_set1(0.5f));
  for (uint32_t i = 1; i < 9; i++) r = f32_fma(r, c, f32_set1(heed_cpu_terms.slope[i]));
  const f32xN low = f32_select_less(end, size, zero, f32_mul(f32_mul(p, f32_pow2(t)), r));
  return f32_select_less(x, zero, low, f32_sub(one, low));
}

#endif
