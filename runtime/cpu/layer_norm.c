/* layer_norm: y = gain (x - mean) / sqrt(variance + epsilon) + bias over rows of C (Ba et al.
 * 2016): 1 mean 2 variance about that mean, so that a large mean costs no digits 3 scale. rms: the
 * mean is 0 (Zhang & Sennrich 2019). With a gradient (heed/ops.h) pass 3 sums h and h u, and pass 4
 * is the result. */
#include <math.h>

#include "cpu/gemm.h"
#include "graph/ops/layer_norm.h"
#include "heed/ops.h"

typedef struct job {
  const float *x, *gain, *bias, *gradient;
  size_t bias_step; /* 0: all of a row take the same zeros */
  float *y, epsilon;
  bool rms, held;
  size_t width, rows_per_task;
  uint64_t rows;
} job;

/* x - mean, the mean in two parts: the first alone, as F32, is off by more than the spread may bear
 * when the mean is large. */
static inline f32xN centre(f32xN x, f32xN mean, f32xN rest) {
  return f32_sub(f32_sub(x, mean), rest);
}

/* Sum over the row of x - mean - rest, or of its square. Four sums side by side hide the latency of
 * the add. */
static float row_sum(const float *x, size_t width, float mean, float rest, bool squared) {
  const f32xN means = f32_set1(mean), rests = f32_set1(rest);
  f32xN sum[4] = {f32_set1(0.0f), f32_set1(0.0f), f32_set1(0.0f), f32_set1(0.0f)};
  size_t i = 0;
  for (; i + 4 * HEED_SIMD_WIDTH <= width; i += 4 * HEED_SIMD_WIDTH)
    for (uint32_t u = 0; u < 4; u++) {
      const f32xN d = centre(f32_load(x + i + u * HEED_SIMD_WIDTH), means, rests);
      sum[u] = squared ? f32_fma(d, d, sum[u]) : f32_add(sum[u], d);
    }
  float total = f32_reduce_add(f32_add(f32_add(sum[0], sum[1]), f32_add(sum[2], sum[3])));
  for (; i < width; i++) {
    const float d = x[i] - mean - rest;
    total += squared ? d * d : d;
  }
  return total;
}

/* Of a row: the mean in two parts, and 1 / s. */
typedef struct spread {
  float mean, rest, scale;
} spread;

static spread measure_row(const job *j, const float *x) {
  const float count = (float)j->width;
  spread s = {0.0f, 0.0f, 0.0f};
  if (!j->rms) s.mean = row_sum(x, j->width, 0.0f, 0.0f, false) / count;
  if (!j->rms) s.rest = row_sum(x, j->width, s.mean, 0.0f, false) / count;
  s.scale = 1.0f / sqrtf(row_sum(x, j->width, s.mean, s.rest, true) / count + j->epsilon);
  return s;
}

static void norm_row(const job *j, const float *x, float *y) {
  const spread s = measure_row(j, x);
  const f32xN means = f32_set1(s.mean), rests = f32_set1(s.rest), factor = f32_set1(s.scale);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= j->width; i += HEED_SIMD_WIDTH) {
    const f32xN unit = f32_mul(centre(f32_load(x + i), means, rests), factor);
    f32_store(y + i, f32_fma(unit, f32_load(j->gain + i), f32_load(j->bias + i * j->bias_step)));
  }
  for (; i < j->width; i++)
    y[i] = (x[i] - s.mean - s.rest) * s.scale * j->gain[i] + j->bias[i * j->bias_step];
}

/* The means of h and of h u. */
static void gradient_means(const job *j, const spread *s, const float *x, const float *g,
                           float *mean, float *along) {
  const f32xN means = f32_set1(s->mean), rests = f32_set1(s->rest);
  f32xN sum[2] = {f32_set1(0.0f), f32_set1(0.0f)}, products[2] = {sum[0], sum[0]};
  size_t i = 0;
  for (; i + 2 * HEED_SIMD_WIDTH <= j->width; i += 2 * HEED_SIMD_WIDTH)
    for (uint32_t u = 0; u < 2; u++) {
      const size_t at = i + u * HEED_SIMD_WIDTH;
      const f32xN h = f32_mul(f32_load(g + at), f32_load(j->gain + at));
      sum[u] = f32_add(sum[u], h);
      products[u] = f32_fma(h, centre(f32_load(x + at), means, rests), products[u]);
    }
  float all = f32_reduce_add(f32_add(sum[0], sum[1])),
        product = f32_reduce_add(f32_add(products[0], products[1]));
  for (; i < j->width; i++) {
    const float h = g[i] * j->gain[i];
    all += h;
    product += h * (x[i] - s->mean - s->rest);
  }
  *mean = j->rms ? 0.0f : all / (float)j->width;
  *along = j->held ? 0.0f : product * s->scale / (float)j->width;
}

static void gradient_row(const job *j, const float *x, const float *g, float *y) {
  const spread s = measure_row(j, x);
  float mean, along;
  gradient_means(j, &s, x, g, &mean, &along);
  const f32xN means = f32_set1(s.mean), rests = f32_set1(s.rest), scale = f32_set1(s.scale),
              shift = f32_set1(mean), turn = f32_set1(-along * s.scale);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= j->width; i += HEED_SIMD_WIDTH) {
    const f32xN h = f32_mul(f32_load(g + i), f32_load(j->gain + i)),
                d = centre(f32_load(x + i), means, rests);
    f32_store(y + i, f32_mul(f32_fma(d, turn, f32_sub(h, shift)), scale));
  }
  for (; i < j->width; i++)
    y[i] = (g[i] * j->gain[i] - mean - (x[i] - s.mean - s.rest) * along * s.scale) * s.scale;
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++) {
    const size_t at = row * j->width;
    if (j->gradient)
      gradient_row(j, j->x + at, j->gradient + at, j->y + at);
    else
      norm_row(j, j->x + at, j->y + at);
  }
}

static void run(const heed_cpu_step *step) {
  static const float zeros[HEED_SIMD_WIDTH] = {0};
  const heed_layer_norm_desc *desc = step->node->desc;
  const float *bias = heed_cpu_input(step, HEED_LAYER_NORM_INPUT_BIAS);
  const heed_shape *x = heed_cpu_shape(step, desc->x.id);
  job j = {.x = heed_cpu_input(step, HEED_LAYER_NORM_INPUT_X),
           .gain = heed_cpu_input(step, HEED_LAYER_NORM_INPUT_GAIN),
           .bias = bias ? bias : zeros,
           .bias_step = bias != NULL,
           .gradient = heed_cpu_input(step, HEED_LAYER_NORM_INPUT_GRADIENT),
           .y = step->output[0],
           .epsilon = desc->epsilon,
           .rms = desc->rms,
           .held = desc->held};
  j.width = heed_cpu_shape(step, desc->gain.id)->dim[0];
  j.rows = heed_shape_count(x) / j.width;
  j.rows_per_task = j.width < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.width : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_layer_norm) = {
    .in_place = 1u << HEED_LAYER_NORM_INPUT_X | 1u << HEED_LAYER_NORM_INPUT_GRADIENT, .run = run};
