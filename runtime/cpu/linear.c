/* linear: y [M, N] = activation(x [M, K] weight^T + bias) + residual; weight [N, K] is kept as
 * panels. Some groups of rows at a time are packed into the shared scratch; then a task is one
 * group by some panels. */
#include "graph/ops/linear.h"
#include "cpu/gemm.h"
#include "cpu/simd/int8.h"
#include "heed/ops.h"
#if defined(HEED_BF16)
#include "cpu/bf16.h"
#endif

/* Rows of a group at most, groups worked through at a time, and multiply-adds of a task at
 * least. */
#define GROUP_ROWS 256u
#define GROUPS_AT_A_TIME 4u
#define TASK_WORK 400000u

typedef struct job {
  heed_cpu_product product;
  const heed_cpu_step *step;
  const float *x;
  float *packed;
  size_t group_rows, panels, panels_per_task, tasks_per_group;
  size_t first, end;         /* rows worked through now */
  const heed_cpu_int8 *int8; /* NULL: a product of floats */
  size_t row_bytes;          /* of a packed row */
  heed_cpu_int8_row *quantised;
#if defined(HEED_BF16)
  const heed_cpu_bf16 *bf16; /* NULL: not of bf16 */
#endif
} job;

/* Groups of equal size, whole tiles of `tile` rows each. */
static size_t group_rows(size_t rows, size_t tile) {
  const size_t tiles = heed_cpu_parts(rows, tile), groups = heed_cpu_parts(rows, GROUP_ROWS);
  return heed_cpu_parts(tiles, groups) * tile;
}

static size_t rows_at_a_time(size_t rows, size_t tile) {
  const size_t most = group_rows(rows, tile) * GROUPS_AT_A_TIME;
  return rows < most ? rows : most;
}

/* Rows of the group that begins at row `first`. */
static size_t rows_in_group(const job *j, size_t first) {
  return j->end - first < j->group_rows ? j->end - first : j->group_rows;
}

/* The same tasks with rows of int8, packed as bytes. */
static void pack_int8_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t at = (size_t)task * j->int8->rows, left = j->end - j->first - at,
               m = left < j->int8->rows ? left : j->int8->rows, depth = j->product.depth;
  heed_cpu_int8_pack_tile(j->int8, j->x + (j->first + at) * depth, depth, m,
                          (unsigned char *)j->packed + at * j->row_bytes, j->quantised + at);
}

static void run_int8_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t first = (size_t)(task / j->tasks_per_group) * j->group_rows,
               panel = (size_t)(task % j->tasks_per_group) * j->panels_per_task;
  for (size_t i = panel; i < panel + j->panels_per_task && i < j->panels; i++)
    heed_cpu_int8_product_panel(
        j->int8, &j->product, (unsigned char *)j->packed + first * j->row_bytes,
        j->quantised + first, j->first + first, rows_in_group(j, j->first + first), i,
        heed_cpu_worker_scratch(j->step, worker));
}

static uint64_t int8_row_bytes(uint64_t depth, uint32_t group) {
  return heed_cpu_divide_up(depth, group) * 4;
}

static void prepare_int8(job *j, uint32_t weight) {
  if (!heed_cpu_int8_of(j->step->plan->graph, weight)) return;
  j->int8 = j->step->int8;
  const size_t rows = rows_at_a_time(j->product.rows, j->int8->rows);
  j->quantised = (heed_cpu_int8_row *)(void *)j->step->shared;
  j->packed = (float *)(void *)(j->quantised + rows);
  j->row_bytes = (size_t)int8_row_bytes(j->product.depth, j->int8->group);
}

#if defined(HEED_BF16)
/* The same tasks with rows of bf16, which take at most the room of floats. */
static void pack_bf16_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t at = (size_t)task * j->bf16->rows, left = j->end - j->first - at,
               depth = j->product.depth;
  j->bf16->pack_tile(j->x + (j->first + at) * depth, depth,
                     left < j->bf16->rows ? left : j->bf16->rows,
                     (unsigned char *)j->packed + at * heed_cpu_bf16_row_bytes(depth));
}

static void run_bf16_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t first = (size_t)(task / j->tasks_per_group) * j->group_rows,
               panel = (size_t)(task % j->tasks_per_group) * j->panels_per_task;
  for (size_t i = panel; i < panel + j->panels_per_task && i < j->panels; i++)
    j->bf16->product_panel(
        &j->product, (unsigned char *)j->packed + first * heed_cpu_bf16_row_bytes(j->product.depth),
        j->first + first, rows_in_group(j, j->first + first), i,
        heed_cpu_worker_scratch(j->step, worker));
}
#define PACK_FLOATS(j) ((j)->bf16 ? pack_bf16_task : pack_task)
#define RUN_FLOATS(j) ((j)->bf16 ? run_bf16_task : run_task)
#else
#define PACK_FLOATS(j) pack_task
#define RUN_FLOATS(j) run_task
#endif

static void pack_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t row = j->first + (size_t)task * HEED_TILE_ROWS,
               first = row - (row - j->first) % j->group_rows, depth = j->product.depth;
  heed_cpu_pack_tile(j->x + row * depth, depth, depth, rows_in_group(j, first),
                     (row - first) / HEED_TILE_ROWS, j->packed + (first - j->first) * depth);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t first = j->first + (size_t)(task / j->tasks_per_group) * j->group_rows,
               panel = (size_t)(task % j->tasks_per_group) * j->panels_per_task;
  for (size_t i = panel; i < panel + j->panels_per_task && i < j->panels; i++)
    heed_cpu_product_panel(&j->product, j->packed + (first - j->first) * j->product.depth, first,
                           rows_in_group(j, first), i, heed_cpu_worker_scratch(j->step, worker));
}

#define TILE_ROWS(j) ((j)->int8 ? (j)->int8->rows : HEED_TILE_ROWS)
#define PACK_TASK(j) ((j)->int8 ? pack_int8_task : PACK_FLOATS(j))
#define RUN_TASK(j) ((j)->int8 ? run_int8_task : RUN_FLOATS(j))

static void split(job *j) {
  const size_t rows = j->product.rows;
  j->group_rows = group_rows(rows, TILE_ROWS(j));
  j->panels = heed_cpu_parts(j->product.columns, HEED_TILE_COLUMNS);
  const uint64_t work = (uint64_t)(rows < j->group_rows ? rows : j->group_rows) * j->product.depth *
                        HEED_TILE_COLUMNS;
  const uint64_t wanted = heed_cpu_divide_up(TASK_WORK, work);
  j->panels_per_task = wanted < j->panels ? (size_t)wanted : j->panels;
  j->tasks_per_group = heed_cpu_parts(j->panels, j->panels_per_task);
}

static void multiply(job *j) {
  const size_t rows = j->product.rows, tile = TILE_ROWS(j), at_a_time = rows_at_a_time(rows, tile);
  for (j->first = 0; j->first < rows; j->first = j->end) {
    j->end = rows - j->first < at_a_time ? rows : j->first + at_a_time;
    heed_thread_pool_run(j->step->pool, heed_cpu_parts(j->end - j->first, tile), PACK_TASK(j), j);
    heed_thread_pool_run(
        j->step->pool,
        (uint64_t)heed_cpu_parts(j->end - j->first, j->group_rows) * j->tasks_per_group,
        RUN_TASK(j), j);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_linear_desc *desc = step->node->desc;
  job j = {.step = step, .packed = (float *)(void *)step->shared};
  heed_cpu_product *p = &j.product;
  j.x = heed_cpu_input(step, HEED_LINEAR_INPUT_X);
  p->panels = heed_cpu_input(step, HEED_LINEAR_INPUT_WEIGHT);
#if defined(HEED_HALVES)
  p->half = heed_graph_halves(step->plan->graph, desc->weight.id) != NULL;
#endif
  p->bias = heed_cpu_input(step, HEED_LINEAR_INPUT_BIAS);
  p->residual = heed_cpu_input(step, HEED_LINEAR_INPUT_RESIDUAL);
  p->activation = desc->activation;
  p->y = step->output[0];
  const heed_shape *x_shape = heed_cpu_shape(step, desc->x.id),
                   *weight = heed_cpu_shape(step, desc->weight.id);
  p->depth = weight->dim[1];
  p->columns = weight->dim[0];
  p->rows = (size_t)(heed_shape_count(x_shape) / p->depth);
  if (desc->heads) {
    p->heads = desc->heads;
    p->tokens = x_shape->dim[1];
    p->head_depth = p->columns / ((size_t)desc->parts * desc->heads);
  }
  prepare_int8(&j, desc->weight.id);
#if defined(HEED_BF16)
  if (!j.int8) j.bf16 = step->bf16;
#endif
  split(&j);
  multiply(&j);
}

static void measure(const heed_plan *plan, const heed_node *node, heed_cpu_need *need) {
  const heed_linear_desc *desc = node->desc;
  const size_t depth = heed_graph_record(plan->graph, desc->weight.id)->shape.dim[1];
  const size_t rows =
      (size_t)(heed_shape_count(&heed_graph_record(plan->graph, desc->x.id)->shape) / depth);
  need->worker = (uint64_t)group_rows(rows, HEED_TILE_ROWS) * HEED_TILE_COLUMNS * sizeof(float);
  need->shared = (uint64_t)rows_at_a_time(rows, HEED_TILE_ROWS) * depth * sizeof(float);
  if (!heed_cpu_int8_of(plan->graph, desc->weight.id)) return;
  /* A group has whole tiles of whichever way; groups of two numbers take the most. */
  const size_t most =
      heed_cpu_parts(rows, heed_cpu_parts(rows, GROUP_ROWS)) + HEED_INT8_MOST_ROWS - 1;
  need->worker = (uint64_t)most * HEED_TILE_COLUMNS * sizeof(float);
  /* A panel of pairs widened. */
  if (HEED_INT8_WIDE)
    need->worker += heed_cpu_divide_up(depth, 2) * HEED_TILE_COLUMNS * 2 * sizeof(int16_t);
  need->shared = ((rows < most * GROUPS_AT_A_TIME ? rows : most * GROUPS_AT_A_TIME) +
                  (uint64_t)HEED_INT8_MOST_ROWS) *
                 (sizeof(heed_cpu_int8_row) + int8_row_bytes(depth, 2));
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_linear) = {.panels = 1u << HEED_LINEAR_INPUT_WEIGHT,
                                                      .int8_panels = 1u << HEED_LINEAR_INPUT_WEIGHT,
#if defined(HEED_BF16)
                                                      .bf16_panels = 1u << HEED_LINEAR_INPUT_WEIGHT,
#endif
                                                      .measure = measure,
                                                      .run = run};
