/* select_rows: x [B, T, C] -> rows [first, first + count) of axis 1. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/select_rows.h"
#include "heed/ops.h"

typedef struct job {
  const float *x;
  float *y;
  size_t from_stride, from_first, run; /* elements */
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  memcpy(j->y + (size_t)task * j->run, j->x + (size_t)task * j->from_stride + j->from_first,
         j->run * sizeof *j->y);
}

static void run(const heed_cpu_step *step) {
  const heed_select_rows_desc *desc = step->node->desc;
  const uint32_t *x = heed_cpu_shape(step, desc->x.id)->dim;
  const size_t width = x[2];
  job j = {heed_cpu_input(step, HEED_SELECT_ROWS_INPUT_X), step->output[0], x[1] * width,
           desc->first * width, desc->count * width};
  heed_thread_pool_run(step->pool, x[0], run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_select_rows) = {.run = run};
