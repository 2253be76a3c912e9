/* linear: y [M, N] = activation(x [M, K] weight^T + bias) + residual; weight [N, K] is kept as panels. A task is one group of rows
 * by some panels, so that a panel stays in the second cache while the rows stream past it. */
#include "cpu/gemm.h"

/* Rows of a group at most, and multiply-adds of a task at least. */
#define GROUP_ROWS 256u
#define TASK_WORK 400000u

typedef struct job {
  heed_cpu_product product;
  const heed_cpu_step *step;
  size_t group_rows, panels, panels_per_task, tasks_per_group;
} job;

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const heed_cpu_product *p = &j->product;
  const size_t first = (size_t)(task / j->tasks_per_group) * j->group_rows;
  const size_t end = p->rows - first < j->group_rows ? p->rows : first + j->group_rows;
  const size_t panel = (size_t)(task % j->tasks_per_group) * j->panels_per_task;
  heed_cpu_product group = *p;
  group.x = p->x + first * p->x_stride;
  for (size_t i = panel; i < panel + j->panels_per_task && i < j->panels; i++)
    heed_cpu_product_panel(&group, first, end, i, heed_cpu_worker_scratch(j->step, worker));
}

/* Groups of equal size, whole tiles each. */
static void split(job *j) {
  const size_t rows = j->product.rows, tiles = heed_cpu_divide_up(rows, HEED_TILE_ROWS), groups = heed_cpu_divide_up(rows, GROUP_ROWS);
  j->group_rows = heed_cpu_divide_up(tiles, groups) * HEED_TILE_ROWS;
  j->panels = heed_cpu_divide_up(j->product.columns, HEED_TILE_COLUMNS);
  const uint64_t work = (uint64_t)(rows < j->group_rows ? rows : j->group_rows) * j->product.depth * HEED_TILE_COLUMNS;
  const uint64_t wanted = heed_cpu_divide_up(TASK_WORK, work ? work : 1);
  j->panels_per_task = wanted < j->panels ? (size_t)wanted : j->panels;
  j->tasks_per_group = heed_cpu_divide_up(j->panels, j->panels_per_task);
}

static void run(const heed_cpu_step *step) {
  const heed_linear_desc *desc = step->node->desc;
  uint32_t slot = 0;
  job j = {.step = step};
  heed_cpu_product *p = &j.product;
  p->x = heed_cpu_take(step, &slot, desc->x);
  p->panels = heed_cpu_take(step, &slot, desc->weight);
  p->bias = heed_cpu_take(step, &slot, desc->bias);
  p->residual = heed_cpu_take(step, &slot, desc->residual);
  p->activation = desc->activation;
  p->y = step->output[0];
  const heed_shape *x = heed_cpu_shape(step, desc->x.id), *weight = heed_cpu_shape(step, desc->weight.id);
  p->depth = p->x_stride = weight->dim[1];
  p->columns = weight->dim[0];
  p->rows = (size_t)(heed_shape_count(x) / p->depth);
  if (desc->heads) {
    p->heads = desc->heads;
    p->tokens = x->dim[1];
    p->head_depth = p->columns / ((size_t)desc->parts * desc->heads);
  }
  split(&j);
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(p->rows, j.group_rows) * j.tasks_per_group, run_task, &j);
}

static void measure(const heed_plan *plan, const heed_node *node, heed_cpu_need *need) {
  (void)plan;
  (void)node;
  need->worker = HEED_TILE_ROWS * HEED_TILE_COLUMNS * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_linear) = {1u << 1, measure, run};
