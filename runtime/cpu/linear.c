/* linear: y [M, N] = activation(x [M, K] weight^T + bias) + residual; weight [N, K] is kept as
 * panels. Some groups of rows at a time are packed into the shared scratch; then a task is one
 * group by some panels. */
#include "graph/ops/linear.h"
#include "base/alloc.h"
#include "cpu/gemm.h"
#include "cpu/weights/form.h"
#include "heed/ops.h"

/* Rows of a group at most, groups worked through at a time, and multiply-adds of a task at
 * least. */
#define GROUP_ROWS 256u
#define GROUPS_AT_A_TIME 4u
#define TASK_WORK 400000u

typedef struct job {
  heed_cpu_product product;
  const heed_cpu_step *step;
  const heed_cpu_form *form;
  const float *x;
  const float *own;      /* panels [N, K] of the matrix whose transpose is the weight; else NULL */
  float *turned;         /* the weight's panels, made of them */
  unsigned char *packed; /* groups, group_bytes apart */
  size_t tile_rows, group_rows, group_bytes, panels, panels_per_task, tasks_per_group;
  size_t first, end; /* rows worked through now */
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

static unsigned char *group_of(const job *j, size_t first) {
  return j->packed + (first - j->first) / j->group_rows * j->group_bytes;
}

static void pack_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t row = j->first + (size_t)task * j->tile_rows,
               first = row - (row - j->first) % j->group_rows, depth = j->product.depth;
  j->form->pack_tile(j->step->level, j->x + row * depth, depth, rows_in_group(j, first),
                     (row - first) / j->tile_rows, group_of(j, first));
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t first = j->first + (size_t)(task / j->tasks_per_group) * j->group_rows,
               panel = (size_t)(task % j->tasks_per_group) * j->panels_per_task;
  for (size_t i = panel; i < panel + j->panels_per_task && i < j->panels; i++)
    j->form->product_panel(j->step->level, &j->product, group_of(j, first), first,
                           rows_in_group(j, first), i, heed_cpu_worker_scratch(j->step, worker));
}

/* Panel `task` of the transpose. Square blocks of panels are turned, zeros in missing columns. */
static void turn_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t depth = j->product.depth, columns = j->product.columns,
               first = (size_t)task * HEED_TILE_COLUMNS,
               count = columns - first < HEED_TILE_COLUMNS ? columns - first : HEED_TILE_COLUMNS;
  float *to = j->turned + first * depth;
  (void)worker;
  for (size_t row = 0; row < depth; row += HEED_TILE_COLUMNS) {
    const float *from = j->own + row * columns + first * HEED_TILE_COLUMNS;
    const size_t rows = depth - row < HEED_TILE_COLUMNS ? depth - row : HEED_TILE_COLUMNS;
    for (size_t i = 0; i < rows; i++, to += HEED_TILE_COLUMNS)
      for (size_t k = 0; k < HEED_TILE_COLUMNS; k++)
        to[k] = k < count ? from[k * HEED_TILE_COLUMNS + i] : 0.0f;
  }
}

static void split(job *j) {
  const heed_cpu_level_table *level = j->step->level;
  const size_t rows = j->product.rows;
  j->tile_rows = j->form->tile_rows(level);
  j->group_rows = group_rows(rows, j->tile_rows);
  j->group_bytes = (size_t)j->form->group_bytes(level, j->group_rows, j->product.depth);
  j->panels = heed_cpu_parts(j->product.columns, HEED_TILE_COLUMNS);
  const uint64_t work = (uint64_t)(rows < j->group_rows ? rows : j->group_rows) * j->product.depth *
                        HEED_TILE_COLUMNS;
  const uint64_t wanted = heed_cpu_divide_up(TASK_WORK, work);
  j->panels_per_task = wanted < j->panels ? (size_t)wanted : j->panels;
  j->tasks_per_group = heed_cpu_parts(j->panels, j->panels_per_task);
}

static void multiply(job *j) {
  if (j->own) heed_thread_pool_run(j->step->pool, j->panels, turn_task, j);
  const size_t rows = j->product.rows, at_a_time = rows_at_a_time(rows, j->tile_rows);
  for (j->first = 0; j->first < rows; j->first = j->end) {
    j->end = rows - j->first < at_a_time ? rows : j->first + at_a_time;
    heed_thread_pool_run(j->step->pool, heed_cpu_parts(j->end - j->first, j->tile_rows), pack_task,
                         j);
    heed_thread_pool_run(
        j->step->pool,
        (uint64_t)heed_cpu_parts(j->end - j->first, j->group_rows) * j->tasks_per_group, run_task,
        j);
  }
}

/* Bytes of the panels of a weight that is made of its transpose's at each run; else 0. */
static uint64_t turned_bytes(const heed_cpu_level_table *level, const heed_plan *plan,
                             const heed_node *node) {
  const uint32_t id = node->input[HEED_LINEAR_INPUT_WEIGHT];
  if (heed_cpu_kept_id(level, plan, node, HEED_LINEAR_INPUT_WEIGHT) == id) return 0;
  const heed_shape *weight = &heed_graph_record(plan->graph, id)->shape;
  return heed_align_up(heed_cpu_parts(weight->dim[0], HEED_TILE_COLUMNS) * HEED_TILE_COLUMNS *
                           (uint64_t)weight->dim[1] * sizeof(float),
                       64);
}

static void run(const heed_cpu_step *step) {
  const heed_linear_desc *desc = step->node->desc;
  job j = {.step = step, .packed = step->shared};
  j.form = heed_cpu_form_of(step->level, step->plan, step->node, HEED_LINEAR_INPUT_WEIGHT);
  heed_cpu_product *p = &j.product;
  j.x = heed_cpu_input(step, HEED_LINEAR_INPUT_X);
  p->panels = heed_cpu_input(step, HEED_LINEAR_INPUT_WEIGHT);
  const uint64_t turned = turned_bytes(step->level, step->plan, step->node);
  if (turned) {
    j.own = p->panels;
    p->panels = j.turned = (float *)(void *)step->shared;
    j.packed += turned;
  }
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
  split(&j);
  multiply(&j);
}

static void measure(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                    heed_cpu_need *need) {
  const heed_linear_desc *desc = node->desc;
  const size_t depth = heed_graph_record(plan->graph, desc->weight.id)->shape.dim[1];
  const size_t rows =
      (size_t)(heed_shape_count(&heed_graph_record(plan->graph, desc->x.id)->shape) / depth);
  const heed_cpu_form *form = heed_cpu_form_of(level, plan, node, HEED_LINEAR_INPUT_WEIGHT);
  const size_t tile = form->tile_rows(level), group = group_rows(rows, tile),
               most = rows_at_a_time(rows, tile);
  need->worker = (uint64_t)group * HEED_TILE_COLUMNS * sizeof(float);
  if (form->panel_scratch) need->worker += form->panel_scratch(level, depth);
  need->shared = turned_bytes(level, plan, node) +
                 most / group * form->group_bytes(level, group, depth) +
                 form->group_bytes(level, most % group, depth);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_linear) = {
    .panels = 1u << HEED_LINEAR_INPUT_WEIGHT, .forms = ~0u, .measure = measure, .run = run};
