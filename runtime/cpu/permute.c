/* permute: y's elements in order, each from its place in x. Axes that stay neighbours are merged
 * first; where the last of what is left lies side by side in x, rows are copied whole; where the
 * last but one does, squares are turned. */
#include <string.h>

#include "cpu/gemm.h"
#include "cpu/simd/f32xN.h"
#include "graph/ops/permute.h"
#include "heed/ops.h"

typedef struct job {
  const uint32_t *x;
  uint32_t *y;
  uint32_t axes;
  size_t size[HEED_MAX_RANK], stride[HEED_MAX_RANK]; /* of y's merged axes; strides in x */
  size_t row;                                        /* elements of the last axis */
  uint64_t rows, rows_per_task;
} job;

static void copy_row(const job *j, size_t from, uint32_t *to) {
  const size_t stride = j->stride[j->axes - 1];
  if (stride == 1)
    memcpy(to, j->x + from, j->row * sizeof *to);
  else
    for (size_t i = 0; i < j->row; i++) to[i] = j->x[from + i * stride];
}

static void turn(const job *j, const float *x, float *y) {
  const size_t stride = j->stride[j->axes - 1];
  f32xN square[HEED_SIMD_WIDTH];
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= j->row; i += HEED_SIMD_WIDTH) {
    for (uint32_t k = 0; k < HEED_SIMD_WIDTH; k++) square[k] = f32_load(x + (i + k) * stride);
    f32_transpose(square);
    for (uint32_t k = 0; k < HEED_SIMD_WIDTH; k++) f32_store(y + k * j->row + i, square[k]);
  }
  for (; i < j->row; i++)
    for (uint32_t k = 0; k < HEED_SIMD_WIDTH; k++)
      memcpy(y + k * j->row + i, x + i * stride + k, sizeof *y);
}

/* Makes a row of y; of those after it, up to `left` in all, also some that lie side by side in x.
 * How many. */
static uint32_t make_rows(const job *j, uint64_t row, uint64_t left, size_t from, uint32_t *to) {
  const uint32_t last = j->axes - 1;
  if (HEED_SIMD_WIDTH > 1 && last && j->stride[last - 1] == 1 && left >= HEED_SIMD_WIDTH &&
      row % j->size[last - 1] + HEED_SIMD_WIDTH <= j->size[last - 1]) {
    turn(j, (const float *)(const void *)(j->x + from), (float *)(void *)to);
    return HEED_SIMD_WIDTH;
  }
  copy_row(j, from, to);
  return 1;
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (uint64_t row = first; row < end;) {
    uint64_t index = row;
    size_t from = 0;
    for (uint32_t i = j->axes - 1; i-- > 0; index /= j->size[i])
      from += (size_t)(index % j->size[i]) * j->stride[i];
    row += make_rows(j, row, end - row, from, j->y + (size_t)row * j->row);
  }
}

static void merge_axes(const heed_shape *x, const uint32_t *order, job *j) {
  size_t strides[HEED_MAX_RANK], step = 1;
  for (uint32_t i = x->rank; i-- > 0; step *= x->dim[i]) strides[i] = step;
  for (uint32_t i = 0; i < x->rank; i++) {
    const size_t size = x->dim[order[i]], stride = strides[order[i]];
    const uint32_t last = j->axes ? j->axes - 1 : 0;
    if (size == 1) continue;
    if (j->axes && j->stride[last] == size * stride) {
      j->size[last] *= size;
      j->stride[last] = stride;
      continue;
    }
    j->size[j->axes] = size;
    j->stride[j->axes++] = stride;
  }
  if (j->axes) return;
  j->axes = 1;
  j->size[0] = j->stride[0] = 1;
}

static void run(const heed_cpu_step *step) {
  const heed_permute_desc *desc = step->node->desc;
  const heed_shape *x = heed_cpu_shape(step, desc->x.id);
  job j = {.x = heed_cpu_input(step, HEED_PERMUTE_INPUT_X), .y = step->output[0]};
  merge_axes(x, desc->order, &j);
  j.row = j.size[j.axes - 1];
  j.rows = heed_shape_count(x) / j.row;
  j.rows_per_task = j.row < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.row : 1;
  if (j.rows_per_task < HEED_SIMD_WIDTH) j.rows_per_task = HEED_SIMD_WIDTH;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_permute) = {.run = run};
