/* gather: entries of x by indices. Whole entries are copied by runs of the axes behind the axis;
 * with `elements` a row is y's last axis. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/gather.h"
#include "heed/ops.h"

typedef struct job {
  const heed_gather_desc *desc;
  const heed_shape *x_shape, *y_shape;
  const uint32_t *x;
  const int32_t *indices;
  uint32_t *y;
  size_t length, count, run;    /* of the axis; indices; elements behind the axis */
  size_t stride[HEED_MAX_RANK]; /* of x */
  size_t rows, row, rows_per_task;
} job;

/* The entry that an index names; the length where it names none. */
static size_t find(const job *j, int32_t index) {
  const int64_t at = index < 0 ? index + (int64_t)j->length : index;
  return at < 0 || at >= (int64_t)j->length ? j->length : (size_t)at;
}

static void copy_entry(const job *j, size_t row) {
  const size_t entry = find(j, j->indices[row % j->count]);
  uint32_t *to = j->y + row * j->run;
  if (entry == j->length)
    memset(to, 0, j->run * sizeof *to);
  else
    memcpy(to, j->x + (row / j->count * j->length + entry) * j->run, j->run * sizeof *to);
}

static void copy_elements(const job *j, size_t row) {
  const uint32_t axis = j->desc->axis, last = j->y_shape->rank - 1;
  size_t number = row, at = 0;
  for (uint32_t i = last; i-- > 0; number /= j->y_shape->dim[i])
    if (i != axis) at += number % j->y_shape->dim[i] * j->stride[i];
  for (size_t i = 0; i < j->row; i++) {
    const size_t to = row * j->row + i, entry = find(j, j->indices[to]);
    j->y[to] = entry == j->length ? 0 : j->x[at + entry * j->stride[axis] + (axis == last ? 0 : i)];
  }
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t first = (size_t)task * j->rows_per_task, left = j->rows - first,
               end = left < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = first; row < end; row++)
    (j->desc->elements ? copy_elements : copy_entry)(j, row);
}

static void run(const heed_cpu_step *step) {
  const heed_gather_desc *desc = step->node->desc;
  const heed_shape *x = heed_cpu_shape(step, desc->x.id),
                   *y = heed_cpu_shape(step, step->node->output[0]);
  job j = {.desc = desc,
           .x_shape = x,
           .y_shape = y,
           .x = heed_cpu_input(step, HEED_GATHER_INPUT_X),
           .indices = heed_cpu_input(step, HEED_GATHER_INPUT_INDICES),
           .y = step->output[0],
           .length = x->dim[desc->axis],
           .count = (size_t)heed_shape_count(heed_cpu_shape(step, desc->indices.id))};
  size_t stride = 1;
  for (uint32_t i = x->rank; i-- > 0; stride *= x->dim[i]) j.stride[i] = stride;
  j.run = j.stride[desc->axis];
  j.row = desc->elements ? y->dim[y->rank - 1] : j.run;
  j.rows = (size_t)heed_shape_count(y) / j.row;
  j.rows_per_task = j.row < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.row : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_gather) = {.run = run};
