/* layer_norm: y = gain (x - mean) / sqrt(variance + epsilon) + bias over rows of C (Ba et al.
 * 2016): 1 mean 2 variance about that mean, so that a large mean costs no digits 3 scale. rms: the
 * mean is 0 (Zhang & Sennrich 2019). */
#include <math.h>

#include "cpu/gemm.h"
#include "graph/ops/layer_norm.h"
#include "heed/ops.h"

typedef struct job {
  const float *x, *gain, *bias;
  size_t bias_step; /* 0: all of a row take the same zeros */
  float *y, epsilon;
  bool rms;
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

static void norm_row(const job *j, const float *x, float *y) {
  const float count = (float)j->width;
  const float mean = j->rms ? 0.0f : row_sum(x, j->width, 0.0f, 0.0f, false) / count;
  const float rest = j->rms ? 0.0f : row_sum(x, j->width, mean, 0.0f, false) / count;
  const float scale = 1.0f / sqrtf(row_sum(x, j->width, mean, rest, true) / count + j->epsilon);
  const f32xN means = f32_set1(mean), rests = f32_set1(rest), factor = f32_set1(scale);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= j->width; i += HEED_SIMD_WIDTH) {
    const f32xN unit = f32_mul(centre(f32_load(x + i), means, rests), factor);
    f32_store(y + i, f32_fma(unit, f32_load(j->gain + i), f32_load(j->bias + i * j->bias_step)));
  }
  for (; i < j->width; i++)
    y[i] = (x[i] - mean - rest) * scale * j->gain[i] + j->bias[i * j->bias_step];
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++)
    norm_row(j, j->x + row * j->width, j->y + row * j->width);
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
           .y = step->output[0],
           .epsilon = desc->epsilon,
           .rms = desc->rms};
  j.width = heed_cpu_shape(step, desc->gain.id)->dim[0];
  j.rows = heed_shape_count(x) / j.width;
  j.rows_per_task = j.width < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.width : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_layer_norm) = {.run = run};
