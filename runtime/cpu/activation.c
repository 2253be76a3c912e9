/* activation: y = f(x), element by element; the formulas are in heed.h. */
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

static void (*const spans[])(const float *from, float *to, size_t count) = {
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

void heed_cpu_activate(heed_activation kind, const float *from, float *to, size_t count) {
  const uint32_t rest = count % HEED_SIMD_WIDTH;
  const size_t whole = count - rest;
  spans[kind](from, to, whole);
  if (!rest) return;
  float last[HEED_SIMD_WIDTH];
  f32_store(last, f32_load_tail(from + whole, rest));
  spans[kind](last, last, HEED_SIMD_WIDTH);
  f32_store_tail(to + whole, f32_load(last), rest);
}

typedef struct job {
  heed_activation kind;
  const float *x;
  float *y;
  size_t count;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t first = (size_t)task * HEED_CPU_GRAIN, left = j->count - first;
  heed_cpu_activate(j->kind, j->x + first, j->y + first,
                    left < HEED_CPU_GRAIN ? left : HEED_CPU_GRAIN);
}

static void run(const heed_cpu_step *step) {
  const heed_activation_desc *desc = step->node->desc;
  job j = {desc->kind, heed_cpu_input(step, HEED_ACTIVATION_INPUT_X), step->output[0],
           (size_t)heed_shape_count(heed_cpu_shape(step, desc->x.id))};
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.count, HEED_CPU_GRAIN), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_activation) = {.run = run};
