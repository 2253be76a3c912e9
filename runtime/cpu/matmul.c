/* matmul: y = a b for each of a batch. Some matrices at a time are packed into the shared scratch:
 * b as panels, a as groups of rows (cpu/gemm.h); then a task is one group by some panels. A batch
 * of a by one b is one product with all its rows. */
#include "graph/ops/matmul.h"
#include <string.h>

#include "cpu/gemm.h"
#include "heed/ops.h"

/* Rows of a group and of a matrix at most, floats packed at a time (one matrix at least), and
 * multiply-adds of a task at least. */
#define GROUP_ROWS 240u
#define MATRIX_ROWS 960u
#define PACKED_FLOATS (1u << 21)
#define TASK_WORK 400000u
/* Of a tile of rows that stay in the first cache where they lie. */
#define LYING_FLOATS 4096u

/* What is known from the shapes. */
typedef struct extent {
  size_t rows, depth, columns, batch; /* of each product; products */
  uint32_t axes;                      /* leading ones, innermost first */
  size_t size[HEED_MAX_RANK], a_step[HEED_MAX_RANK], b_step[HEED_MAX_RANK]; /* in matrices */
  size_t most, group, panels; /* rows packed at a time, of a group; panels of b */
  size_t together;            /* products packed at a time */
  bool lying;                 /* rows of a are read where they lie: turned, or few and short */
} extent;

typedef struct job {
  extent e;
  const heed_cpu_step *step;
  const float *a, *b;
  float *y, *panels, *rows; /* packed */
  bool turned_a, turned_b;
  size_t product, products;          /* first, and how many now */
  size_t first, count, groups;       /* rows of each */
  size_t panels_per_task, per_group; /* tasks of a group */
} job;

/* One b for all, so that the rows of a follow each other. */
static void merge_batch(extent *e, const heed_shape *b) {
  for (uint32_t i = 0; i + 2 < b->rank; i++)
    if (b->dim[i] != 1) return;
  for (uint32_t i = 0; i < e->axes; i++)
    if (e->a_step[i] == 0 && e->size[i] > 1) return;
  e->rows *= e->batch;
  e->batch = 1;
}

static extent measure_extent(const heed_plan *plan, const heed_node *node) {
  const heed_matmul_desc *desc = node->desc;
  const heed_shape *a = &heed_graph_record(plan->graph, desc->a.id)->shape,
                   *b = &heed_graph_record(plan->graph, desc->b.id)->shape,
                   *y = &heed_graph_record(plan->graph, node->output[0])->shape;
  extent e = {.rows = y->dim[y->rank - 2],
              .depth = a->dim[a->rank - (desc->transpose_a ? 2 : 1)],
              .columns = y->dim[y->rank - 1],
              .batch = 1,
              .axes = y->rank - 2};
  size_t a_step = 1, b_step = 1;
  for (uint32_t i = 0; i < e.axes; i++) {
    const size_t have_a = i + 2 < a->rank ? a->dim[a->rank - 3 - i] : 1,
                 have_b = i + 2 < b->rank ? b->dim[b->rank - 3 - i] : 1;
    e.size[i] = y->dim[y->rank - 3 - i];
    e.a_step[i] = have_a == 1 ? 0 : a_step;
    e.b_step[i] = have_b == 1 ? 0 : b_step;
    a_step *= have_a;
    b_step *= have_b;
    e.batch *= e.size[i];
  }
  if (!desc->transpose_a) merge_batch(&e, b);
  e.most = e.rows < MATRIX_ROWS ? e.rows : MATRIX_ROWS;
  const size_t groups = heed_cpu_parts(e.most, GROUP_ROWS);
  e.group = heed_cpu_parts(heed_cpu_parts(e.most, HEED_TILE_ROWS), groups) * HEED_TILE_ROWS;
  e.panels = heed_cpu_parts(e.columns, HEED_TILE_COLUMNS);
  e.lying = desc->transpose_a || e.depth <= LYING_FLOATS / HEED_TILE_ROWS;
  const size_t floats = (e.panels * HEED_TILE_COLUMNS + (e.lying ? 0 : e.most)) * e.depth;
  e.together = floats < PACKED_FLOATS ? PACKED_FLOATS / floats : 1;
  if (e.together > e.batch) e.together = e.batch;
  return e;
}

/* The number of the matrix of product `number`. */
static size_t matrix(const extent *e, const size_t *step, size_t number) {
  size_t at = 0;
  for (uint32_t i = 0; i < e->axes && e->batch > 1; i++) {
    at += number % e->size[i] * step[i];
    number /= e->size[i];
  }
  return at;
}

static float *panels_of(const job *j, size_t product) {
  return j->panels + product * j->e.panels * HEED_TILE_COLUMNS * j->e.depth;
}

/* One panel of one b. */
static void pack_panel_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const extent *e = &j->e;
  const size_t product = (size_t)task / e->panels, number = (size_t)task % e->panels,
               first = number * HEED_TILE_COLUMNS, left = e->columns - first,
               count = left < HEED_TILE_COLUMNS ? left : HEED_TILE_COLUMNS;
  const float *b = j->b + matrix(e, e->b_step, j->product + product) * e->depth * e->columns;
  float *panel = panels_of(j, product) + number * HEED_TILE_COLUMNS * e->depth;
  if (j->turned_b) {
    heed_cpu_pack_panel(b + first * e->depth, e->depth, (uint32_t)count, panel);
    return;
  }
  for (size_t k = 0; k < e->depth; k++, panel += HEED_TILE_COLUMNS) {
    memcpy(panel, b + k * e->columns + first, count * sizeof *panel);
    memset(panel + count, 0, (HEED_TILE_COLUMNS - count) * sizeof *panel);
  }
}

static size_t rows_in_group(const job *j, size_t group) {
  const size_t left = j->count - group * j->e.group;
  return left < j->e.group ? left : j->e.group;
}

static float *rows_of(const job *j, size_t product, size_t group) {
  return j->rows + (product * j->e.most + group * j->e.group) * j->e.depth;
}

/* One tile of rows of one a. */
static void pack_tile_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const extent *e = &j->e;
  const size_t tiles = heed_cpu_parts(j->count, HEED_TILE_ROWS), product = (size_t)task / tiles,
               row = (size_t)task % tiles * HEED_TILE_ROWS, group = row / e->group;
  const float *a =
      j->a + (matrix(e, e->a_step, j->product + product) * e->rows + j->first + row) * e->depth;
  heed_cpu_pack_tile(a, e->depth, e->depth, rows_in_group(j, group),
                     (row - group * e->group) / HEED_TILE_ROWS, rows_of(j, product, group));
}

/* Rows [row, row + m) of a where they lie, times a slice of a panel. */
static void multiply_tile(const job *j, const heed_cpu_product *p, const float *a, size_t row,
                          uint32_t m, size_t from, size_t count, const float *panel, float *to,
                          size_t stride) {
  if (j->turned_a)
    heed_cpu_turned_tile(m, a + from * p->rows + row, p->rows, panel, count, to, stride, from > 0);
  else
    heed_cpu_tile(m, a + row * p->depth + from, p->depth, panel, HEED_TILE_COLUMNS, count, to,
                  stride, from > 0);
}

/* Rows [first, first + count) of a panel, slice by slice: the sums are made in y, or beside it
 * where y has not all of the panel's columns. */
static void multiply_lying(const job *j, const heed_cpu_product *p, const float *a, size_t first,
                           size_t count, size_t panel, float *sums) {
  const size_t slice = heed_cpu_slice_depth(p->depth);
  const bool direct = (panel + 1) * HEED_TILE_COLUMNS <= p->columns;
  float *to = direct ? p->y + first * p->columns + panel * HEED_TILE_COLUMNS : sums;
  const size_t stride = direct ? p->columns : HEED_TILE_COLUMNS;
  for (size_t from = 0; from < p->depth; from += slice)
    for (size_t row = 0; row < count; row += HEED_TILE_ROWS)
      multiply_tile(j, p, a, first + row,
                    count - row < HEED_TILE_ROWS ? (uint32_t)(count - row) : HEED_TILE_ROWS, from,
                    p->depth - from < slice ? p->depth - from : slice,
                    p->panels + (panel * p->depth + from) * HEED_TILE_COLUMNS, to + row * stride,
                    stride);
  if (!direct) heed_cpu_finish(p, sums, first, count, panel);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const extent *e = &j->e;
  const size_t unit = (size_t)(task / j->per_group), product = unit / j->groups,
               group = unit % j->groups, first = (size_t)(task % j->per_group) * j->panels_per_task,
               row = j->first + group * e->group, count = rows_in_group(j, group);
  const heed_cpu_product p = {
      .rows = e->rows,
      .depth = e->depth,
      .columns = e->columns,
      .panels = panels_of(j, product),
      .y = j->y + (j->product + product) * e->rows * e->columns,
  };
  const float *a = j->a + matrix(e, e->a_step, j->product + product) * e->rows * e->depth;
  float *sums = heed_cpu_worker_scratch(j->step, worker);
  for (size_t i = first; i < first + j->panels_per_task && i < e->panels; i++) {
    if (e->lying)
      multiply_lying(j, &p, a, row, count, i, sums);
    else
      heed_cpu_product_panel(&p, rows_of(j, product, group), row, count, i, sums);
  }
}

/* Rows [first, first + count) of the products whose b is packed. */
static void multiply_rows(job *j) {
  const extent *e = &j->e;
  j->count = e->rows - j->first < e->most ? e->rows - j->first : e->most;
  j->groups = heed_cpu_parts(j->count, e->group);
  const uint64_t work = (uint64_t)e->group * e->depth * HEED_TILE_COLUMNS,
                 wanted = heed_cpu_divide_up(TASK_WORK, work);
  j->panels_per_task = wanted < e->panels ? (size_t)wanted : e->panels;
  j->per_group = heed_cpu_parts(e->panels, j->panels_per_task);
  if (!e->lying)
    heed_thread_pool_run(j->step->pool,
                         (uint64_t)heed_cpu_parts(j->count, HEED_TILE_ROWS) * j->products,
                         pack_tile_task, j);
  heed_thread_pool_run(j->step->pool, (uint64_t)j->products * j->groups * j->per_group, run_task,
                       j);
}

static void run(const heed_cpu_step *step) {
  const heed_matmul_desc *desc = step->node->desc;
  job j = {.e = measure_extent(step->plan, step->node),
           .step = step,
           .a = heed_cpu_input(step, HEED_MATMUL_INPUT_A),
           .b = heed_cpu_input(step, HEED_MATMUL_INPUT_B),
           .y = step->output[0],
           .panels = (float *)(void *)step->shared,
           .turned_a = desc->transpose_a,
           .turned_b = desc->transpose_b};
  j.rows = panels_of(&j, j.e.together);
  for (j.product = 0; j.product < j.e.batch; j.product += j.products) {
    const size_t left = j.e.batch - j.product;
    j.products = left < j.e.together ? left : j.e.together;
    heed_thread_pool_run(step->pool, (uint64_t)j.products * j.e.panels, pack_panel_task, &j);
    for (j.first = 0; j.first < j.e.rows; j.first += j.e.most) multiply_rows(&j);
  }
}

static void measure(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                    heed_cpu_need *need) {
  (void)level;
  const extent e = measure_extent(plan, node);
  need->worker = (uint64_t)e.group * HEED_TILE_COLUMNS * sizeof(float);
  need->shared = (uint64_t)e.together * (e.panels * HEED_TILE_COLUMNS + (e.lying ? 0 : e.most)) *
                 e.depth * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_matmul) = {.measure = measure, .run = run};
