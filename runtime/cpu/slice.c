/* slice: a window of x. The axes behind the last one that is not whole are one run of elements; a
 * row is that axis, with `value` before and behind what x has of it. */
#include <string.h>

#include "base/assert.h"
#include "cpu/gemm.h"
#include "graph/ops/slice.h"
#include "heed/ops.h"

typedef struct job {
  const heed_slice_desc *desc;
  const heed_shape *shape; /* of x */
  const uint32_t *x;
  uint32_t *y;
  uint32_t axis, value; /* of a row; the word beyond x */
  size_t run, stride[HEED_MAX_RANK];
  size_t from, to; /* elements [from, to) of the row are x's */
  size_t rows, rows_per_task;
} job;

static void fill(uint32_t *to, size_t count, uint32_t value) {
  for (size_t i = 0; i < count; i++) to[i] = value;
}

/* Where row `number` of y begins in x; false where x has no such row. */
static bool find_row(const job *j, size_t number, size_t *at) {
  *at = 0;
  for (uint32_t i = j->axis; i-- > 0;) {
    const size_t size = j->desc->shape.dim[i];
    const int64_t index = j->desc->start[i] + (int64_t)(number % size) * j->desc->step[i];
    if (index < 0 || index >= j->shape->dim[i]) return false;
    *at += (size_t)index * j->stride[i];
    number /= size;
  }
  return true;
}

static void copy_row(const job *j, size_t at, uint32_t *to) {
  const int64_t step = j->desc->step[j->axis], run = (int64_t)j->run;
  fill(to, j->from * j->run, j->value);
  fill(to + j->to * j->run, (j->desc->shape.dim[j->axis] - j->to) * j->run, j->value);
  if (j->from == j->to) return;
  const uint32_t *from =
      j->x + (int64_t)at + (j->desc->start[j->axis] + (int64_t)j->from * step) * run;
  to += j->from * j->run;
  const size_t count = j->to - j->from;
  if (step == 1)
    memcpy(to, from, count * j->run * sizeof *to);
  else if (run == 1)
    for (size_t i = 0; i < count; i++) to[i] = from[(int64_t)i * step];
  else
    for (size_t i = 0; i < count; i++)
      memcpy(to + i * j->run, from + (int64_t)i * step * run, j->run * sizeof *to);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t first = (size_t)task * j->rows_per_task, left = j->rows - first,
               end = left < j->rows_per_task ? j->rows : first + j->rows_per_task,
               length = j->desc->shape.dim[j->axis] * j->run;
  for (size_t row = first; row < end; row++) {
    size_t at;
    if (find_row(j, row, &at))
      copy_row(j, at, j->y + row * length);
    else
      fill(j->y + row * length, length, j->value);
  }
}

static void plan_rows(job *j) {
  const heed_slice_desc *d = j->desc;
  size_t step = 1;
  for (uint32_t i = j->shape->rank; i-- > 0; step *= j->shape->dim[i]) j->stride[i] = step;
  j->axis = j->shape->rank - 1;
  for (; j->axis > 0; j->axis--)
    if (d->start[j->axis] != 0 || d->step[j->axis] != 1 ||
        d->shape.dim[j->axis] != j->shape->dim[j->axis])
      break;
  j->run = j->stride[j->axis];
  const size_t size = d->shape.dim[j->axis];
  const heed_slice_part part = heed_slice_inside(d->start[j->axis], d->step[j->axis],
                                                 j->shape->dim[j->axis], d->shape.dim[j->axis]);
  j->from = part.from;
  j->to = part.to;
  HEED_ASSERT(j->from <= j->to && j->to <= size);
  j->rows = 1;
  for (uint32_t i = 0; i < j->axis; i++) j->rows *= d->shape.dim[i];
  const size_t length = size * j->run;
  j->rows_per_task = length < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / length : 1;
}

static void run(const heed_cpu_step *step) {
  const heed_slice_desc *desc = step->node->desc;
  job j = {.desc = desc,
           .shape = heed_cpu_shape(step, desc->x.id),
           .x = heed_cpu_input(step, HEED_SLICE_INPUT_X),
           .y = step->output[0]};
  const int32_t whole = (int32_t)desc->value;
  if (heed_graph_record(step->plan->graph, desc->x.id)->dtype == HEED_I32)
    memcpy(&j.value, &whole, sizeof whole);
  else
    memcpy(&j.value, &desc->value, sizeof desc->value);
  plan_rows(&j);
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_slice) = {.run = run};
