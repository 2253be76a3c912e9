/* linear: y [M, N] = activation(x [M, K] weight^T + bias) + residual; weight [N, K] is kept as panels. A task is one group of rows
 * by some panels, so that a panel stays in the second cache while the rows stream past it. */
#include <string.h>

#include "cpu/gemm.h"

/* Rows of a group at most, groups worked through at a time, and multiply-adds of a task at least. */
#define GROUP_ROWS 256u
#define GROUPS_AT_A_TIME 4u
#define TASK_WORK 400000u

typedef struct job {
  heed_cpu_product product;
  const heed_cpu_step *step;
  const float *x;
  size_t group_rows, panels, panels_per_task, tasks_per_group;
  size_t first, end; /* rows worked through now; `x` points at row `first` */
} job;

/* Whether rows this far apart would fall into the same few sets of the first cache, which a tall tile then thrashes. */
static bool rows_collide(size_t depth, size_t rows) { return HEED_TILE_ROWS >= 8 && depth % 512 == 0 && rows > HEED_TILE_ROWS; }

static size_t group_rows(size_t rows) {
  const size_t tiles = heed_cpu_parts(rows, HEED_TILE_ROWS), groups = heed_cpu_parts(rows, GROUP_ROWS);
  return heed_cpu_parts(tiles, groups) * HEED_TILE_ROWS;
}

static size_t rows_at_a_time(size_t rows) {
  const size_t most = group_rows(rows) * GROUPS_AT_A_TIME;
  return rows < most ? rows : most;
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t first = j->first + (size_t)(task / j->tasks_per_group) * j->group_rows, left = j->end - first;
  const size_t panel = (size_t)(task % j->tasks_per_group) * j->panels_per_task;
  for (size_t i = panel; i < panel + j->panels_per_task && i < j->panels; i++)
    heed_cpu_product_panel(&j->product, j->x + (first - j->first) * j->product.x_stride, first, left < j->group_rows ? left : j->group_rows, i,
                           heed_cpu_worker_scratch(j->step, worker));
}

typedef struct copy {
  const float *from;
  float *to;
  size_t depth, rows;
} copy;

/* A tile's rows, further apart than they lie. */
static void copy_rows(uint64_t task, uint32_t worker, void *user) {
  const copy *c = user;
  (void)worker;
  for (size_t row = (size_t)task * HEED_TILE_ROWS; row < (size_t)(task + 1) * HEED_TILE_ROWS && row < c->rows; row++)
    memcpy(c->to + row * (c->depth + HEED_CPU_ROW_PAD), c->from + row * c->depth, c->depth * sizeof *c->to);
}

/* Groups of equal size, whole tiles each. */
static void split(job *j) {
  const size_t rows = j->product.rows;
  j->group_rows = group_rows(rows);
  j->panels = heed_cpu_parts(j->product.columns, HEED_TILE_COLUMNS);
  const uint64_t work = (uint64_t)(rows < j->group_rows ? rows : j->group_rows) * j->product.depth * HEED_TILE_COLUMNS;
  const uint64_t wanted = heed_cpu_divide_up(TASK_WORK, work);
  j->panels_per_task = wanted < j->panels ? (size_t)wanted : j->panels;
  j->tasks_per_group = heed_cpu_parts(j->panels, j->panels_per_task);
}

static void multiply(job *j, const float *x) {
  const heed_cpu_step *step = j->step;
  const size_t depth = j->product.depth, rows = j->product.rows, at_a_time = rows_at_a_time(rows);
  const bool apart = rows_collide(depth, rows);
  j->product.x_stride = apart ? depth + HEED_CPU_ROW_PAD : depth;
  for (j->first = 0; j->first < rows; j->first = j->end) {
    j->end = rows - j->first < at_a_time ? rows : j->first + at_a_time;
    j->x = x + j->first * depth;
    if (apart) {
      copy c = {j->x, (float *)(void *)step->shared, depth, j->end - j->first};
      heed_thread_pool_run(step->pool, heed_cpu_parts(c.rows, HEED_TILE_ROWS), copy_rows, &c);
      j->x = c.to;
    }
    heed_thread_pool_run(step->pool, (uint64_t)heed_cpu_parts(j->end - j->first, j->group_rows) * j->tasks_per_group, run_task, j);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_linear_desc *desc = step->node->desc;
  uint32_t slot = 0;
  job j = {.step = step};
  heed_cpu_product *p = &j.product;
  const float *x = heed_cpu_take(step, &slot, desc->x);
  p->panels = heed_cpu_take(step, &slot, desc->weight);
  p->bias = heed_cpu_take(step, &slot, desc->bias);
  p->residual = heed_cpu_take(step, &slot, desc->residual);
  p->activation = desc->activation;
  p->y = step->output[0];
  const heed_shape *x_shape = heed_cpu_shape(step, desc->x.id), *weight = heed_cpu_shape(step, desc->weight.id);
  p->depth = weight->dim[1];
  p->columns = weight->dim[0];
  p->rows = (size_t)(heed_shape_count(x_shape) / p->depth);
  if (desc->heads) {
    p->heads = desc->heads;
    p->tokens = x_shape->dim[1];
    p->head_depth = p->columns / ((size_t)desc->parts * desc->heads);
  }
  split(&j);
  multiply(&j, x);
}

static void measure(const heed_plan *plan, const heed_node *node, heed_cpu_need *need) {
  const heed_linear_desc *desc = node->desc;
  const size_t depth = heed_graph_record(plan->graph, desc->weight.id)->shape.dim[1];
  const size_t rows = (size_t)(heed_shape_count(&heed_graph_record(plan->graph, desc->x.id)->shape) / depth);
  need->worker = (uint64_t)group_rows(rows) * HEED_TILE_COLUMNS * sizeof(float);
  if (rows_collide(depth, rows)) need->shared = (uint64_t)rows_at_a_time(rows) * (depth + HEED_CPU_ROW_PAD) * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_linear) = {1u << 1, measure, run};
