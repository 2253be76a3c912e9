/* The loop of add and multiply. The trailing axes in which b is whole (or all 1) are one run of
 * elements; a piece is at most a grain of one run. */
#include "cpu/broadcast.h"

#include "graph/broadcast_rule.h"
#include "heed/ops.h"

typedef struct job {
  const heed_cpu_broadcast *op;
  const float *a, *b;
  float *y;
  /* elements of a run; 1 where b runs along, 0 where one element of b is repeated */
  size_t run, step;
  /* leading axes: dim and b's stride, 0 where repeated; innermost first */
  uint32_t axes;
  size_t dim[HEED_MAX_RANK], stride[HEED_MAX_RANK];
  uint64_t pieces, pieces_per_run, pieces_per_task;
} job;

/* Merges axes from the last one on for as long as b treats them alike, and lists the others. */
static void plan_runs(job *j, const heed_shape *a, const heed_shape *b) {
  size_t b_size = 1;
  bool inner = true;
  j->run = 1;
  j->step = b->rank > 0 && b->dim[b->rank - 1] != 1;
  for (uint32_t i = 0; i < a->rank; i++) {
    const size_t have = i < b->rank ? b->dim[b->rank - 1 - i] : 1, dim = a->dim[a->rank - 1 - i];
    if (dim == 1) continue;
    if (inner && j->run == 1) j->step = have != 1;
    inner = inner && j->step == (have != 1);
    if (inner) {
      j->run *= dim;
    } else {
      j->dim[j->axes] = dim;
      j->stride[j->axes++] = have == 1 ? 0 : b_size;
    }
    b_size *= have;
  }
}

static void run_piece(const job *j, uint64_t piece) {
  uint64_t number = piece / j->pieces_per_run;
  const size_t first = (size_t)(piece % j->pieces_per_run) * HEED_CPU_GRAIN, left = j->run - first;
  const size_t count = left < HEED_CPU_GRAIN ? left : HEED_CPU_GRAIN,
               at = (size_t)number * j->run + first;
  size_t offset = 0;
  for (uint32_t i = 0; i < j->axes; i++) {
    offset += (size_t)(number % j->dim[i]) * j->stride[i];
    number /= j->dim[i];
  }
  if (j->step)
    j->op->run(j->a + at, j->b + offset + first, j->y + at, count);
  else
    j->op->one(j->a + at, j->b[offset], j->y + at, count);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->pieces_per_task, left = j->pieces - first;
  for (uint64_t i = 0; i < (left < j->pieces_per_task ? left : j->pieces_per_task); i++)
    run_piece(j, first + i);
}

void HEED_CPU_SYMBOL(heed_cpu_broadcast_step)(const heed_cpu_step *step,
                                              const heed_cpu_broadcast *op) {
  const heed_add_desc *desc = step->node->desc;
  const heed_shape *a = heed_cpu_shape(step, desc->a.id);
  job j = {.op = op,
           .a = heed_cpu_input(step, HEED_BROADCAST_INPUT_A),
           .b = heed_cpu_input(step, HEED_BROADCAST_INPUT_B),
           .y = step->output[0]};
  plan_runs(&j, a, heed_cpu_shape(step, desc->b.id));
  j.pieces_per_run = heed_cpu_divide_up(j.run, HEED_CPU_GRAIN);
  j.pieces = heed_shape_count(a) / j.run * j.pieces_per_run;
  j.pieces_per_task = j.run < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.run : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.pieces, j.pieces_per_task), run_task, &j);
}
