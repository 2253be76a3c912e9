/* concat: joins tensors along an axis; an input whose axis 0 is 1 is read again for every entry of
 * the result's axis 0. Words are copied as they are. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/concat.h"

typedef struct part {
  const uint32_t *x;
  /* elements between two steps of the axes before `axis`, and how many there are before they
   * repeat */
  size_t row, rows;
} part;

typedef struct job {
  part parts[HEED_CONCAT_MAX];
  uint32_t count;
  uint32_t *y;
  size_t row, rows_per_task;
  uint64_t rows;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (uint64_t row = first; row < end; row++) {
    uint32_t *to = j->y + (size_t)row * j->row;
    for (uint32_t i = 0; i < j->count; i++) {
      const part *p = &j->parts[i];
      memcpy(to, p->x + (size_t)(row % p->rows) * p->row, p->row * sizeof *to);
      to += p->row;
    }
  }
}

/* Elements from `axis` on, and before it. */
static void measure_axes(const heed_shape *shape, uint32_t axis, size_t *row, size_t *rows) {
  *row = *rows = 1;
  for (uint32_t i = 0; i < shape->rank; i++) {
    if (i < axis)
      *rows *= shape->dim[i];
    else
      *row *= shape->dim[i];
  }
}

static void run(const heed_cpu_step *step) {
  const heed_concat_desc *desc = step->node->desc;
  job j = {.count = desc->count, .y = step->output[0]};
  size_t rows;
  for (uint32_t i = 0; i < desc->count; i++) {
    j.parts[i].x = heed_cpu_input(step, HEED_CONCAT_INPUT_X + i);
    measure_axes(heed_cpu_shape(step, desc->x[i].id), desc->axis, &j.parts[i].row,
                 &j.parts[i].rows);
  }
  measure_axes(heed_cpu_shape(step, step->node->output[0]), desc->axis, &j.row, &rows);
  j.rows = rows;
  j.rows_per_task = j.row < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.row : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_concat) = {.run = run};
