/* softmax: over the last axis: 1 maximum 2 exp and sum 3 scale. A row with NaN, +Inf or only -Inf
 * gives NaN. */
#include "graph/ops/softmax.h"
#include "cpu/softmax_row.h"
#include "heed/ops.h"

typedef struct job {
  const float *x;
  float *y;
  size_t width, rows_per_task;
  uint64_t rows;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++) {
    const float *x = j->x + row * j->width;
    float *y = j->y + row * j->width;
    const float sum = heed_cpu_exp_row(x, j->width, heed_cpu_max_row(x, j->width), y);
    heed_cpu_scale_row(y, j->width, 1.0f / sum, y);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_softmax_desc *desc = step->node->desc;
  const heed_shape *x = heed_cpu_shape(step, desc->x.id);
  job j = {.x = heed_cpu_input(step, HEED_SOFTMAX_INPUT_X),
           .y = step->output[0],
           .width = x->dim[x->rank - 1]};
  j.rows = heed_shape_count(x) / j.width;
  j.rows_per_task = j.width < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.width : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_softmax) = {.run = run};
