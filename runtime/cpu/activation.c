/* activation: y = f(x), its slope or f(x) / x, element by element, and times a factor; the formulas
 * are in heed.h. */
#include <math.h>

#include "cpu/gemm.h"
#include "cpu/simd/maths.h"
#include "graph/ops/activation.h"
#include "heed/ops.h"

static inline f32xN none(f32xN x) { return x; }

/* NaN is not less than 0, so it stays. */
static inline f32xN relu(f32xN x) { return f32_select_less(x, f32_set1(0.0f), f32_set1(0.0f), x); }

/* Under -13.5 the exact value is below the smallest float, and -Inf times 0 would be NaN. */
static inline f32xN cut_low(f32xN x, f32xN y) {
  return f32_select_less(x, f32_set1(-13.5f), f32_set1(0.0f), y);
}

static inline f32xN gelu_tanh(f32xN x) {
  const f32xN cubic = f32_fma(f32_mul(f32_mul(x, x), x), f32_set1(0.044715f), x);
  const f32xN half = f32_mul(f32_set1(0.5f), x);
  return cut_low(x, f32_fma(half, f32_tanh(f32_mul(cubic, f32_set1(0.79788456080286536f))), half));
}

/* x sigmoid(s x): from where exp is 0 on it is 0 even for -Inf. */
static inline f32xN swish(f32xN x, float slope) {
  const f32xN z = f32_mul(x, f32_set1(slope));
  return f32_select_less(z, f32_set1(-87.33654f), f32_set1(0.0f), f32_mul(x, f32_sigmoid(z)));
}
static inline f32xN gelu_quick(f32xN x) { return swish(x, 1.702f); }
static inline f32xN silu(f32xN x) { return swish(x, 1.0f); }

static inline f32xN elu_plus_one(f32xN x) {
  const f32xN zero = f32_set1(0.0f), low = f32_select_less(zero, x, zero, x);
  return f32_select_less(zero, x, f32_add(x, f32_set1(1.0f)), f32_exp(low));
}

/* ---- slopes and ratios: the factors by which gradients and relevance go back */

static inline f32xN one_less(f32xN x) { return f32_sub(f32_set1(1.0f), x); }
/* Where x is large the slope has come to its limit; NaN stays. */
static inline f32xN within(f32xN x, float end) {
  const f32xN low = f32_set1(-end), high = f32_set1(end), y = f32_select_less(x, low, low, x);
  return f32_select_less(high, y, high, y);
}
static inline f32xN ones(f32xN x) {
  (void)x;
  return f32_set1(1.0f);
}
static inline f32xN step(f32xN x) {
  const f32xN zero = f32_set1(0.0f);
  return f32_select_less(zero, x, f32_set1(1.0f), f32_select_less(x, zero, zero, x));
}

/* Phi(x) */
static inline f32xN normal(f32xN x) {
  const f32xN half = f32_set1(0.5f);
  return f32_fma(half, f32_erf(f32_mul(x, f32_set1(0.70710678118654752f))), half);
}
/* (1 + tanh u) / 2 is sigmoid(2 u), which loses nothing where it is small. */
static inline f32xN gelu_tanh_angle(f32xN z) {
  const f32xN cubic = f32_fma(f32_mul(f32_mul(z, z), z), f32_set1(0.044715f), z);
  return f32_mul(cubic, f32_set1(2.0f * 0.79788456080286536f));
}
static inline f32xN gelu_tanh_ratio(f32xN x) {
  return f32_sigmoid(gelu_tanh_angle(within(x, 13.0f)));
}
static inline f32xN negative(f32xN x) { return f32_sub(f32_set1(0.0f), x); }
static inline f32xN gelu_tanh_slope(f32xN x) {
  const f32xN z = within(x, 13.0f), u = gelu_tanh_angle(z), r = f32_sigmoid(u);
  const f32xN inner = f32_fma(f32_mul(z, z), f32_set1(3.0f * 0.044715f), f32_set1(1.0f));
  const f32xN bend = f32_mul(f32_mul(z, f32_set1(2.0f * 0.79788456080286536f)), inner);
  return f32_fma(f32_mul(r, f32_sigmoid(negative(u))), bend, r);
}

static inline f32xN swish_slope(f32xN x, float slope) {
  const f32xN z = within(f32_mul(x, f32_set1(slope)), 90.0f), s = f32_sigmoid(z);
  return f32_fma(f32_mul(s, z), f32_sigmoid(negative(z)), s);
}
static inline f32xN quick_slope(f32xN x) { return swish_slope(x, 1.702f); }
static inline f32xN silu_slope(f32xN x) { return swish_slope(x, 1.0f); }
static inline f32xN quick_ratio(f32xN x) { return f32_sigmoid(f32_mul(x, f32_set1(1.702f))); }

static inline f32xN tanh_slope(f32xN x) {
  const f32xN t = f32_tanh(x);
  return f32_mul(one_less(t), f32_add(f32_set1(1.0f), t));
}
/* tanh(x) / x; near 0, where both vanish, 1. */
static inline f32xN tanh_ratio(f32xN x) {
  const f32xN z = within(x, 1e30f);
  return f32_select_less(f32_abs(z), f32_set1(1e-4f), f32_set1(1.0f), f32_div(f32_tanh(z), z));
}
static inline f32xN sigmoid_slope(f32xN x) {
  return f32_mul(f32_sigmoid(x), f32_sigmoid(negative(x)));
}
static inline f32xN elu_slope(f32xN x) {
  const f32xN zero = f32_set1(0.0f), low = f32_select_less(zero, x, zero, x);
  return f32_exp(low);
}

/* Whole vectors. */
#define DEFINE_SPAN(storage, name, word)                          \
  storage void name(const float *from, float *to, size_t count) { \
    for (size_t i = 0; i < count; i += HEED_SIMD_WIDTH)           \
      f32_store(to + i, word(f32_load(from + i)));                \
  }
DEFINE_SPAN(static, span_none, none)
DEFINE_SPAN(static, span_relu, relu)
DEFINE_SPAN(HEED_FLATTEN static, span_gelu, f32_gelu)
DEFINE_SPAN(static, span_gelu_tanh, gelu_tanh)
DEFINE_SPAN(static, span_gelu_quick, gelu_quick)
DEFINE_SPAN(static, span_tanh, f32_tanh)
DEFINE_SPAN(static, span_sigmoid, f32_sigmoid)
DEFINE_SPAN(static, span_silu, silu)
DEFINE_SPAN(static, span_elu_plus_one, elu_plus_one)

DEFINE_SPAN(static, span_ones, ones)
DEFINE_SPAN(static, span_step, step)
DEFINE_SPAN(HEED_FLATTEN static, span_normal, normal)
DEFINE_SPAN(HEED_FLATTEN static, span_gelu_slope, f32_gelu_slope)
DEFINE_SPAN(static, span_gelu_tanh_slope, gelu_tanh_slope)
DEFINE_SPAN(static, span_gelu_tanh_ratio, gelu_tanh_ratio)
DEFINE_SPAN(static, span_quick_slope, quick_slope)
DEFINE_SPAN(static, span_quick_ratio, quick_ratio)
DEFINE_SPAN(static, span_tanh_slope, tanh_slope)
DEFINE_SPAN(static, span_tanh_ratio, tanh_ratio)
DEFINE_SPAN(static, span_sigmoid_slope, sigmoid_slope)
DEFINE_SPAN(static, span_silu_slope, silu_slope)
DEFINE_SPAN(static, span_elu_slope, elu_slope)

typedef void span(const float *from, float *to, size_t count);
static span *const spans[] = {
    [HEED_ACTIVATION_NONE] = span_none,
    [HEED_ACTIVATION_RELU] = span_relu,
    [HEED_ACTIVATION_GELU] = span_gelu,
    [HEED_ACTIVATION_GELU_TANH] = span_gelu_tanh,
    [HEED_ACTIVATION_GELU_QUICK] = span_gelu_quick,
    [HEED_ACTIVATION_TANH] = span_tanh,
    [HEED_ACTIVATION_SIGMOID] = span_sigmoid,
    [HEED_ACTIVATION_SILU] = span_silu,
    [HEED_ACTIVATION_ELU_PLUS_ONE] = span_elu_plus_one,
};

static span *const slopes[] = {
    [HEED_ACTIVATION_NONE] = span_ones,
    [HEED_ACTIVATION_RELU] = span_step,
    [HEED_ACTIVATION_GELU] = span_gelu_slope,
    [HEED_ACTIVATION_GELU_TANH] = span_gelu_tanh_slope,
    [HEED_ACTIVATION_GELU_QUICK] = span_quick_slope,
    [HEED_ACTIVATION_TANH] = span_tanh_slope,
    [HEED_ACTIVATION_SIGMOID] = span_sigmoid_slope,
    [HEED_ACTIVATION_SILU] = span_silu_slope,
    [HEED_ACTIVATION_ELU_PLUS_ONE] = span_elu_slope,
};

/* f(x) / x; the graph refuses what has none */
static span *const ratios[] = {
    [HEED_ACTIVATION_NONE] = span_ones,
    [HEED_ACTIVATION_RELU] = span_step,
    [HEED_ACTIVATION_GELU] = span_normal,
    [HEED_ACTIVATION_GELU_TANH] = span_gelu_tanh_ratio,
    [HEED_ACTIVATION_GELU_QUICK] = span_quick_ratio,
    [HEED_ACTIVATION_TANH] = span_tanh_ratio,
    [HEED_ACTIVATION_SILU] = span_sigmoid,
};

static void apply(span *f, const float *from, float *to, size_t count) {
  const uint32_t rest = count % HEED_SIMD_WIDTH;
  const size_t whole = count - rest;
  f(from, to, whole);
  if (!rest) return;
  float last[HEED_SIMD_WIDTH];
  f32_store(last, f32_load_tail(from + whole, rest));
  f(last, last, HEED_SIMD_WIDTH);
  f32_store_tail(to + whole, f32_load(last), rest);
}

void heed_cpu_activate(heed_activation kind, const float *from, float *to, size_t count) {
  apply(spans[kind], from, to, count);
}

typedef struct job {
  span *f;
  const float *x, *times;
  float *y;
  size_t count;
} job;

/* Elements whose f(x) waits in the first cache for the factor. */
#define PIECE 1024u

static void multiply(const float *a, const float *b, float *y, size_t count) {
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH)
    f32_store(y + i, f32_mul(f32_load(a + i), f32_load(b + i)));
  for (; i < count; i++) y[i] = a[i] * b[i];
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t first = (size_t)task * HEED_CPU_GRAIN, left = j->count - first,
               count = left < HEED_CPU_GRAIN ? left : HEED_CPU_GRAIN;
  float room[PIECE];
  if (!j->times) apply(j->f, j->x + first, j->y + first, count);
  for (size_t i = 0; j->times && i < count; i += PIECE) {
    const size_t here = count - i < PIECE ? count - i : PIECE;
    apply(j->f, j->x + first + i, room, here);
    multiply(room, j->times + first + i, j->y + first + i, here);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_activation_desc *desc = step->node->desc;
  static span *const *const forms[] = {[HEED_ACTIVATION_VALUE] = spans,
                                       [HEED_ACTIVATION_SLOPE] = slopes,
                                       [HEED_ACTIVATION_RATIO] = ratios};
  job j = {forms[desc->form][desc->kind], heed_cpu_input(step, HEED_ACTIVATION_INPUT_X),
           heed_cpu_input(step, HEED_ACTIVATION_INPUT_TIMES), step->output[0],
           (size_t)heed_shape_count(heed_cpu_shape(step, desc->x.id))};
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.count, HEED_CPU_GRAIN), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_activation) = {
    .in_place = 1u << HEED_ACTIVATION_INPUT_X | 1u << HEED_ACTIVATION_INPUT_TIMES, .run = run};
