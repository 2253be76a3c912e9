/* The SIMD vocabulary and its maths, compiled once per level like the kernels: each word against
 * plain C, exp, tanh, erf and sigmoid in units of the last place against double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/simd/maths.h"
#include "support/test.h"

enum { W = HEED_SIMD_WIDTH };

typedef struct lanes {
  float at[W];
} lanes;

static lanes get(f32xN a) {
  lanes l;
  f32_store(l.at, a);
  return l;
}

static f32xN ramp(float first, float step) {
  lanes l;
  for (int i = 0; i < W; i++) l.at[i] = first + step * (float)i;
  return f32_load(l.at);
}

static void test_arithmetic(void **state) {
  (void)state;
  const f32xN a = ramp(1.5f, 0.75f), b = ramp(-3.0f, 1.25f), c = ramp(0.1f, 0.3f);
  const lanes x = get(a), y = get(b), z = get(c);
  const lanes sum = get(f32_add(a, b)), difference = get(f32_sub(a, b)),
              product = get(f32_mul(a, b)), quotient = get(f32_div(b, a));
  const lanes root = get(f32_sqrt(a)), size = get(f32_abs(b)), most = get(f32_max(a, b)),
              least = get(f32_min(a, b));
  const lanes fused = get(f32_fma(a, b, c)), sign = get(f32_copysign(a, b)),
              chosen = get(f32_select_less(a, b, a, c));
  for (int i = 0; i < W; i++) {
    assert_true(sum.at[i] == x.at[i] + y.at[i]);
    assert_true(difference.at[i] == x.at[i] - y.at[i]);
    assert_true(product.at[i] == x.at[i] * y.at[i]);
    assert_true(quotient.at[i] == y.at[i] / x.at[i]);
    assert_true(root.at[i] == sqrtf(x.at[i]));
    assert_true(size.at[i] == fabsf(y.at[i]));
    assert_true(most.at[i] == fmaxf(x.at[i], y.at[i]));
    assert_true(least.at[i] == fminf(x.at[i], y.at[i]));
    assert_true(fabsf(fused.at[i] - (x.at[i] * y.at[i] + z.at[i])) <= 1e-5f);
    assert_true(sign.at[i] == copysignf(x.at[i], y.at[i]));
    assert_true(chosen.at[i] == (x.at[i] < y.at[i] ? x.at[i] : z.at[i]));
  }
}

static void test_tails(void **state) {
  (void)state;
  float from[W], to[W + 1];
  for (int i = 0; i < W; i++) from[i] = (float)(i + 1);
  for (uint32_t n = 1; n <= W; n++) {
    float *exact = malloc(n * sizeof *exact); /* so that a sanitizer sees a read past the end */
    assert_non_null(exact);
    memcpy(exact, from, n * sizeof *exact);
    const lanes loaded = get(f32_load_tail(exact, n));
    for (uint32_t i = 0; i < W; i++) assert_true(loaded.at[i] == (i < n ? from[i] : 0.0f));
    for (int i = 0; i <= W; i++) to[i] = -1.0f;
    f32_store_tail(to, f32_load(from), n);
    for (uint32_t i = 0; i <= W; i++) assert_true(to[i] == (i < n ? from[i] : -1.0f));
    free(exact);
  }
}

static void test_reduce_and_transpose(void **state) {
  (void)state;
  f32xN rows[W];
  for (int i = 0; i < W; i++) rows[i] = ramp((float)(i * W), 1.0f);
  f32_transpose(rows);
  for (int i = 0; i < W; i++) {
    const lanes row = get(rows[i]);
    for (int k = 0; k < W; k++) assert_true(row.at[k] == (float)(k * W + i));
  }
  assert_true(f32_reduce_add(ramp(1.0f, 1.0f)) == (float)(W * (W + 1) / 2));
  for (int i = 0; i < W; i++) {
    lanes l = get(f32_set1(-2.0f));
    l.at[i] = 7.0f;
    assert_true(f32_reduce_max(f32_load(l.at)) == 7.0f);
  }
}

static void test_pow2(void **state) {
  (void)state;
  for (int n = -126; n <= 127; n++)
    assert_true(get(f32_pow2(f32_set1(HEED_SIMD_MAGIC + (float)n))).at[W - 1] == ldexpf(1.0f, n));
}

/* Distance in units of the expected value's last place. */
static double ulps(float found, double expected) {
  int exponent;
  frexp(expected, &exponent);
  return fabs((double)found - expected) / ldexp(1.0, exponent - 24);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* Every float of a fine grid on [low, high]. */
static void sweep(const char *name, f32xN (*word)(f32xN), double (*exact)(double), float low,
                  float high, double most) {
  enum { STEPS = 200000 };
  double worst = 0.0;
  float worst_at = 0.0f;
  for (int i = 0; i <= STEPS; i++) {
    const float x = low + (high - low) * (float)i / (float)STEPS;
    const double off = ulps(get(word(f32_set1(x))).at[0], exact((double)x));
    if (off > worst) {
      worst = off;
      worst_at = x;
    }
  }
  print_message("%s %s: at most %.2f ulp, at %g\n", HEED_SIMD_NAME, name, worst, (double)worst_at);
  if (!(worst <= most))
    fail_msg("%s on %s: %.3f ulp off at %.9g, expected at most %g", name, HEED_SIMD_NAME, worst,
             (double)worst_at, most);
}

static f32xN word_exp(f32xN x) { return f32_exp(x); }
static f32xN word_tanh(f32xN x) { return f32_tanh(x); }
static f32xN word_erf(f32xN x) { return f32_erf(x); }
static f32xN word_sigmoid(f32xN x) { return f32_sigmoid(x); }

static void test_accuracy(void **state) {
  (void)state;
  sweep("exp", word_exp, exp, -87.3f, 0.0f, 2.0);
  sweep("exp near 0", word_exp, exp, -1.0f, 1.0f, 2.0);
  sweep("tanh", word_tanh, tanh, 0.001f, 10.0f, 3.0);
  sweep("tanh left", word_tanh, tanh, -10.0f, -0.001f, 3.0);
  sweep("erf", word_erf, erf, 0.001f, 4.5f, 3.0);
  sweep("erf left", word_erf, erf, -4.5f, -0.001f, 3.0);
  sweep("sigmoid", word_sigmoid, sigmoid, -80.0f, 30.0f, 4.0);
}

/* Floats of every size of tanh: a small argument comes back, whatever its exponent; none is
 * above 1.
 */
static void test_tanh_sizes(void **state) {
  (void)state;
  double worst = 0.0;
  for (uint32_t bits = 1; bits < 0x7F800000u; bits += 4099) {
    float x;
    memcpy(&x, &bits, sizeof x);
    const float y = get(word_tanh(f32_set1(x))).at[0];
    const double exact = tanh((double)x),
                 off = x < 1.2e-38f ? fabs((double)y - exact) / 1.4e-45 : ulps(y, exact);
    assert_true(y <= 1.0f && get(word_tanh(f32_set1(-x))).at[0] == -y);
    if (off > worst) worst = off;
  }
  print_message("%s tanh of all sizes: at most %.2f ulp\n", HEED_SIMD_NAME, worst);
  if (!(worst <= 3.0)) fail_msg("%.3f ulp off, expected at most 3", worst);
}

static float one(f32xN (*word)(f32xN), float x) { return get(word(f32_set1(x))).at[0]; }

static void test_special(void **state) {
  (void)state;
  assert_true(one(word_exp, 0.0f) == 1.0f);
  assert_true(one(word_exp, -INFINITY) == 0.0f);
  assert_true(one(word_exp, -88.0f) == 0.0f);
  assert_true(one(word_exp, -3e38f) == 0.0f);
  assert_true(isnan(one(word_exp, NAN)));
  assert_true(one(word_tanh, INFINITY) == 1.0f && one(word_tanh, -INFINITY) == -1.0f &&
              one(word_tanh, 0.0f) == 0.0f && isnan(one(word_tanh, NAN)));
  assert_true(one(word_tanh, 3e38f) == 1.0f && one(word_tanh, 1e-30f) == 1e-30f);
  assert_true(signbit(one(word_tanh, -0.0f)) && !signbit(one(word_tanh, 0.0f)) &&
              one(word_tanh, -1e-45f) == -1e-45f);
  assert_true(one(word_erf, INFINITY) == 1.0f && one(word_erf, -INFINITY) == -1.0f &&
              one(word_erf, 0.0f) == 0.0f && isnan(one(word_erf, NAN)));
  assert_true(one(word_sigmoid, INFINITY) == 1.0f && one(word_sigmoid, -INFINITY) == 0.0f &&
              isnan(one(word_sigmoid, NAN)));
}

/* 77 tells ctest that the test was skipped. */
static int skip_unless_usable(void) {
  for (uint32_t i = 0; heed_cpu_level(i); i++)
    if (strcmp(heed_cpu_level(i), HEED_SIMD_NAME) == 0) return 0;
  printf("skipped: this machine cannot run %s\n", HEED_SIMD_NAME);
  return 77;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_tails),
      cmocka_unit_test(test_reduce_and_transpose),
      cmocka_unit_test(test_pow2),
      cmocka_unit_test(test_accuracy),
      cmocka_unit_test(test_tanh_sizes),
      cmocka_unit_test(test_special),
  };
  if (skip_unless_usable()) return 77;
  return cmocka_run_group_tests_name("simd " HEED_SIMD_NAME, tests, NULL, NULL);
}
