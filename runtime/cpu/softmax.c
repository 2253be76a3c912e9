/* softmax: over the last axis: 1 maximum 2 exp and sum 3 scale. A row with NaN, +Inf or only -Inf
 * gives NaN. With a gradient g: 1 sum of x g 2 factor x (g - sum). */
#include "graph/ops/softmax.h"
#include "cpu/softmax_row.h"
#include "heed/ops.h"

typedef struct job {
  const float *x, *gradient;
  float *y, factor;
  size_t width, rows_per_task;
  uint64_t rows;
} job;

/* The sum of x g, by four sums side by side. */
static float dot_row(const float *x, const float *g, size_t width) {
  f32xN sum[4] = {f32_set1(0.0f), f32_set1(0.0f), f32_set1(0.0f), f32_set1(0.0f)};
  size_t i = 0;
  for (; i + 4 * HEED_SIMD_WIDTH <= width; i += 4 * HEED_SIMD_WIDTH)
    for (uint32_t u = 0; u < 4; u++) {
      const size_t at = i + u * HEED_SIMD_WIDTH;
      sum[u] = f32_fma(f32_load(x + at), f32_load(g + at), sum[u]);
    }
  float total = f32_reduce_add(f32_add(f32_add(sum[0], sum[1]), f32_add(sum[2], sum[3])));
  for (; i < width; i++) total += x[i] * g[i];
  return total;
}

static void gradient_row(const job *j, const float *x, const float *g, float *y) {
  const float sum = dot_row(x, g, j->width);
  const f32xN sums = f32_set1(sum), factor = f32_set1(j->factor);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= j->width; i += HEED_SIMD_WIDTH)
    f32_store(y + i, f32_mul(f32_mul(factor, f32_load(x + i)), f32_sub(f32_load(g + i), sums)));
  for (; i < j->width; i++) y[i] = j->factor * x[i] * (g[i] - sum);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++) {
    const float *x = j->x + row * j->width;
    float *y = j->y + row * j->width;
    if (j->gradient) {
      gradient_row(j, x, j->gradient + row * j->width, y);
      continue;
    }
    const float sum = heed_cpu_exp_row(x, j->width, heed_cpu_max_row(x, j->width), y);
    heed_cpu_scale_row(y, j->width, 1.0f / sum, y);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_softmax_desc *desc = step->node->desc;
  const heed_shape *x = heed_cpu_shape(step, desc->x.id);
  job j = {.x = heed_cpu_input(step, HEED_SOFTMAX_INPUT_X),
           .gradient = heed_cpu_input(step, HEED_SOFTMAX_INPUT_GRADIENT),
           .factor = desc->factor,
           .y = step->output[0],
           .width = x->dim[x->rank - 1]};
  j.rows = heed_shape_count(x) / j.width;
  j.rows_per_task = j.width < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.width : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_softmax) = {
    .in_place = 1u << HEED_SOFTMAX_INPUT_X | 1u << HEED_SOFTMAX_INPUT_GRADIENT, .run = run};
