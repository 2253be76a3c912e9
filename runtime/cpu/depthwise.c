/* depthwise: windows of each channel by itself. A unit is a band of rows of one channel's result,
 * and a piece of its columns. The lines that its windows reach into are laid out first, with their
 * padding, and columns a stride apart side by side: each element of the kernel then meets vectors.
 */
#include <math.h>
#include <string.h>

#include "cpu/gemm.h"
#include "cpu/simd/truth.h"
#include "graph/ops/depthwise.h"
#include "heed/ops.h"

/* Vectors of results at a time; columns of a piece; floats of lines that a band should keep to;
 * elements that are joined in one chain. */
#define VECTORS 4u
#define STEP (VECTORS * HEED_SIMD_WIDTH)
#define PIECE 512u
#define ROOM 8192u
#define CHAIN 64u
/* Rows of a band whose windows share no lines. */
#define ROWS 16u

/* Element t of phase p of a line is x's column t stride + p, counted from the piece's first. */
typedef struct layout {
  size_t piece, band; /* at most: columns and rows of a unit */
  size_t phases, phase, lines;
  bool shared; /* rows of results have lines in common */
} layout;

typedef struct job {
  const heed_depthwise_desc *desc;
  const heed_cpu_step *step;
  const float *x, *weight, *bias;
  float *y, pad;         /* pad: what changes nothing */
  const uint32_t *place; /* where the kernel's columns begin in a line */
  layout lay;
  size_t channels, outputs, height, width, pieces, bands, units, units_per_task;
} job;

static layout plan_layout(const heed_depthwise_desc *d, size_t height) {
  const size_t extent = (size_t)d->dilation[1] * (d->kernel[1] - 1) + 1, columns = d->size[1];
  layout l = {.piece = columns < PIECE ? heed_cpu_parts(columns, STEP) * STEP : PIECE,
              .band = d->size[0] < ROWS ? d->size[0] : ROWS,
              .phases = d->stride[1] < extent ? d->stride[1] : extent,
              .lines = d->kernel[0],
              .shared = d->dilation[0] == 1 && d->stride[0] <= d->kernel[0]};
  l.phase = l.piece + (extent - 1) / d->stride[1];
  if (l.shared) {
    l.band = ROOM / (l.phases * l.phase * d->stride[0]);
    if (l.band < 1) l.band = 1;
    if (l.band > d->size[0]) l.band = d->size[0];
    l.lines += (l.band - 1) * d->stride[0];
  }
  if (l.lines > height) l.lines = height;
  return l;
}

static void place_columns(const heed_depthwise_desc *d, size_t phase, uint32_t *place) {
  for (size_t k = 0; k < d->kernel[1]; k++) {
    const size_t at = k * d->dilation[1];
    place[k] = (uint32_t)(at % d->stride[1] * phase + at / d->stride[1]);
  }
}

/* ---- lines */

static void fill(float *to, size_t count, float value) {
  for (size_t i = 0; i < count; i++) to[i] = value;
}

/* `count` columns of x, `stride` apart. */
static void copy_columns(const float *from, size_t count, size_t stride, float *to) {
  if (stride == 1)
    memcpy(to, from, count * sizeof *to);
  else
    for (size_t i = 0; i < count; i++) to[i] = from[i * stride];
}

/* Every second column, and those between. */
static void copy_pairs(const float *restrict from, size_t count, float *restrict even,
                       float *restrict odd) {
  for (size_t i = 0; i < count; i++) {
    even[i] = from[2 * i];
    odd[i] = from[2 * i + 1];
  }
}

/* Whether all numbers are finite; in chains, since a sum waits for the one before it. */
static bool are_finite(const float *x, size_t count) {
  const f32xN zero = f32_set1(0.0f);
  f32xN spoilt[VECTORS];
  size_t i = 0;
  for (uint32_t v = 0; v < VECTORS; v++) spoilt[v] = zero;
  for (; i + STEP <= count; i += STEP)
    for (uint32_t v = 0; v < VECTORS; v++)
      spoilt[v] = f32_fma(f32_load(x + i + v * HEED_SIMD_WIDTH), zero, spoilt[v]);
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH)
    spoilt[0] = f32_fma(f32_load(x + i), zero, spoilt[0]);
  if (i < count) spoilt[0] = f32_fma(f32_load_tail(x + i, (uint32_t)(count - i)), zero, spoilt[0]);
  for (uint32_t v = 1; v < VECTORS; v++) spoilt[0] = f32_add(spoilt[0], spoilt[v]);
  return f32_reduce_add(spoilt[0]) == 0.0f;
}

/* What a phase of a line has of a row of x: the first column in it, and the elements. */
typedef struct phase {
  heed_depthwise_part in;
  size_t column;
} phase;

static phase find_phase(const job *j, int64_t at) {
  const uint32_t stride = j->desc->stride[1];
  const heed_depthwise_part in =
      heed_depthwise_inside(at, stride, (uint32_t)j->lay.phase, 0, (int64_t)j->width);
  return (phase){in, in.from < in.to ? (size_t)(at + (int64_t)in.from * stride) : 0};
}

static void pad_phase(const job *j, const phase *p, float *line) {
  fill(line, p->in.from, j->pad);
  fill(line + p->in.to, j->lay.phase - p->in.to, j->pad);
}

static void lay_phase(const job *j, const phase *p, const float *row, float *line) {
  pad_phase(j, p, line);
  copy_columns(row + p->column, p->in.to - p->in.from, j->desc->stride[1], line + p->in.from);
}

/* Two phases at once: what both have is copied in pairs. */
static void lay_pair(const job *j, const phase two[2], const float *row, float *line) {
  float *odd = line + j->lay.phase;
  const uint32_t from = two[0].in.from > two[1].in.from ? two[0].in.from : two[1].in.from,
                 to = two[0].in.to < two[1].in.to ? two[0].in.to : two[1].in.to;
  if (from >= to) {
    lay_phase(j, &two[0], row, line);
    lay_phase(j, &two[1], row, odd);
    return;
  }
  const size_t column = two[0].column + 2 * (size_t)(from - two[0].in.from);
  for (uint32_t p = 0; p < 2; p++) pad_phase(j, &two[p], p ? odd : line);
  if (two[1].in.from < from) odd[from - 1] = row[column - 1];
  copy_pairs(row + column, to - from, line + from, odd + from);
  if (two[0].in.to > to) line[to] = row[column + 2 * (size_t)(to - from)];
}

/* Rows first, first + step, ... of a channel, as lines that begin at column `left`. Whether all
 * that they have is finite, of a maximum. */
static bool lay_lines(const job *j, const float *plane, int64_t left, size_t first, size_t count,
                      size_t step, float *lines) {
  const size_t length = j->lay.phase, line = j->lay.phases * length;
  const bool pairs = j->desc->stride[1] == 2 && j->lay.phases == 2;
  bool finite = true;
  for (size_t p = 0; p < j->lay.phases; p += pairs ? 2 : 1) {
    const phase two[2] = {find_phase(j, left + (int64_t)p), find_phase(j, left + (int64_t)p + 1)};
    for (size_t i = 0; i < count; i++) {
      const float *row = plane + (first + i * step) * j->width;
      if (pairs)
        lay_pair(j, two, row, lines + i * line);
      else
        lay_phase(j, two, row, lines + i * line + p * length);
    }
  }
  if (j->desc->kind != HEED_DEPTHWISE_MAX) return true;
  if (step == 1) return are_finite(plane + first * j->width, count * j->width);
  for (size_t i = 0; i < count && finite; i++)
    finite = are_finite(plane + (first + i * step) * j->width, j->width);
  return finite;
}

/* ---- windows of one row of results */

typedef struct windows {
  const float *lines, *weight; /* of kernel row `from` on */
  size_t line, count;          /* floats from line to line; kernel rows that meet x */
  const uint32_t *place;
  uint32_t kernel; /* columns */
  float start;     /* of chains, read so that compilers do not take it for a memset */
} windows;

/* How an element x with weight w is joined to those before it, and how two chains are; whether
 * there are weights. `larger` is a maximum of finite numbers. */
#define WAYS(X)                                 \
  X(sum, f32_fma(x, w, all), f32_add, true)     \
  X(plain_sum, f32_add(x, all), f32_add, false) \
  X(larger, f32_max(x, all), f32_max, false)    \
  X(most, f32_maximum(x, all), f32_maximum, false)

#define WAY(name, taken, joined, weighted)                                                        \
  /* Elements [k, end) of kernel row i. */                                                        \
  static inline void take_##name(const windows *r, size_t at, size_t i, uint32_t k, uint32_t end, \
                                 f32xN chain[VECTORS]) {                                          \
    for (; k < end; k++) {                                                                        \
      const float *from = r->lines + i * r->line + at + r->place[k];                              \
      const f32xN w = f32_set1(weighted ? r->weight[i * r->kernel + k] : 1.0f);                   \
      (void)w;                                                                                    \
      for (uint32_t v = 0; v < VECTORS; v++) {                                                    \
        const f32xN x = f32_load(from + v * HEED_SIMD_WIDTH), all = chain[v];                     \
        chain[v] = taken;                                                                         \
      }                                                                                           \
    }                                                                                             \
  }                                                                                               \
  static void join_##name(const windows *r, size_t at, f32xN whole[VECTORS]) {                    \
    f32xN chain[VECTORS];                                                                         \
    uint32_t length = 0;                                                                          \
    for (uint32_t v = 0; v < VECTORS; v++) chain[v] = f32_set1(r->start);                         \
    if (r->count * r->kernel <= CHAIN) {                                                          \
      for (size_t i = 0; i < r->count; i++) take_##name(r, at, i, 0, r->kernel, chain);           \
      for (uint32_t v = 0; v < VECTORS; v++) whole[v] = chain[v];                                 \
      return;                                                                                     \
    }                                                                                             \
    for (uint32_t v = 0; v < VECTORS; v++) whole[v] = f32_set1(r->start);                         \
    for (size_t i = 0; i < r->count; i++)                                                         \
      for (uint32_t k = 0; k < r->kernel;) {                                                      \
        const uint32_t room = CHAIN - length, end = r->kernel - k < room ? r->kernel : k + room;  \
        take_##name(r, at, i, k, end, chain);                                                     \
        length += end - k;                                                                        \
        k = end;                                                                                  \
        if (length < CHAIN) continue;                                                             \
        for (uint32_t v = 0; v < VECTORS; v++) {                                                  \
          whole[v] = joined(whole[v], chain[v]);                                                  \
          chain[v] = f32_set1(r->start);                                                          \
        }                                                                                         \
        length = 0;                                                                               \
      }                                                                                           \
    for (uint32_t v = 0; v < VECTORS; v++) whole[v] = joined(whole[v], chain[v]);                 \
  }
WAYS(WAY)

typedef void (*join)(const windows *r, size_t at, f32xN whole[VECTORS]);
static const join joins[] = {[HEED_DEPTHWISE_SUM] = join_sum,
                             [HEED_DEPTHWISE_MEAN] = join_plain_sum,
                             [HEED_DEPTHWISE_MAX] = join_larger};

/* Rows, or columns, that a mean counts in a window that begins at `at`. */
static float count_of(const heed_depthwise_desc *d, uint32_t axis, int64_t at, size_t size) {
  const int64_t before = d->count_padding ? d->before[axis] : 0,
                after = d->count_padding ? d->after[axis] : 0;
  const heed_depthwise_part in =
      heed_depthwise_inside(at, d->dilation[axis], d->kernel[axis], -before, (int64_t)size + after);
  return (float)(in.to - in.from);
}

/* What is being made. */
typedef struct unit {
  const float *plane;    /* of x */
  int64_t left;          /* x's column at the first of a line */
  size_t first;          /* of shared lines, x's row */
  float *lines, *counts; /* counts: of a mean, the columns that each window has */
  bool finite;           /* all that the lines have */
  windows r;
} unit;

/* The lines that a band's windows have in common, the first of which begins at row `top`. */
static void share_lines(const job *j, unit *u, int64_t top, size_t rows) {
  const int64_t end = top + (int64_t)((rows - 1) * j->desc->stride[0] + j->desc->kernel[0]),
                height = (int64_t)j->height;
  u->first = top > 0 ? (size_t)top : 0;
  if (end > (int64_t)u->first && (int64_t)u->first < height)
    u->finite = lay_lines(j, u->plane, u->left, u->first,
                          (size_t)(end < height ? end : height) - u->first, 1, u->lines);
}

/* The windows whose first row of x is `top`; gives the kernel's row that meets x first. */
static uint32_t find_windows(const job *j, unit *u, int64_t top) {
  const heed_depthwise_desc *d = j->desc;
  const heed_depthwise_part in =
      heed_depthwise_inside(top, d->dilation[0], d->kernel[0], 0, (int64_t)j->height);
  u->r.count = in.to - in.from;
  u->r.lines = u->lines;
  if (u->r.count == 0) return in.from;
  const size_t row = (size_t)(top + (int64_t)in.from * d->dilation[0]);
  if (j->lay.shared)
    u->r.lines += (row - u->first) * u->r.line;
  else
    u->finite = lay_lines(j, u->plane, u->left, row, u->r.count, d->dilation[0], u->lines);
  return in.from;
}

/* by: the bias of a sum, the rows that a mean counts. */
static void make_row(const job *j, const unit *u, float by, size_t count, float *y) {
  const heed_depthwise kind = j->desc->kind;
  const join of = kind == HEED_DEPTHWISE_MAX && !u->finite ? join_most : joins[kind];
  for (size_t at = 0; at < count; at += STEP) {
    f32xN all[VECTORS];
    of(&u->r, at, all);
    for (uint32_t v = 0; v < VECTORS; v++) {
      const size_t column = at + v * HEED_SIMD_WIDTH;
      if (column >= count) break;
      if (kind == HEED_DEPTHWISE_SUM) all[v] = f32_add(all[v], f32_set1(by));
      if (kind == HEED_DEPTHWISE_MEAN)
        all[v] = f32_div(all[v], f32_mul(f32_set1(by), f32_load(u->counts + column)));
      if (count - column < HEED_SIMD_WIDTH)
        f32_store_tail(y + column, all[v], (uint32_t)(count - column));
      else
        f32_store(y + column, all[v]);
    }
  }
}

static void run_unit(const job *j, size_t number, float *scratch) {
  const heed_depthwise_desc *d = j->desc;
  const layout *l = &j->lay;
  const size_t column = number % j->pieces * l->piece,
               row = number / j->pieces % j->bands * l->band, image = number / j->pieces / j->bands,
               output = image % j->outputs,
               channel = image / j->outputs * j->channels + output / (j->outputs / j->channels),
               columns = d->size[1] - column < l->piece ? d->size[1] - column : l->piece,
               rows = d->size[0] - row < l->band ? d->size[0] - row : l->band;
  const int64_t left = (int64_t)(column * d->stride[1]) - d->before[1],
                first = (int64_t)(row * d->stride[0]) - d->before[0];
  unit u = {.plane = j->x + channel * j->height * j->width,
            .left = left,
            .counts = scratch,
            .lines = scratch + l->piece,
            .finite = true,
            .r = {.line = l->phases * l->phase,
                  .place = j->place,
                  .kernel = d->kernel[1],
                  .start = j->pad}};
  const bool mean = d->kind == HEED_DEPTHWISE_MEAN;
  for (size_t i = 0; i < l->piece && mean; i++)
    u.counts[i] = count_of(d, 1, left + (int64_t)(i * d->stride[1]), j->width);
  if (l->shared) share_lines(j, &u, first, rows);
  for (size_t k = 0; k < rows; k++) {
    const int64_t top = first + (int64_t)(k * d->stride[0]);
    const uint32_t from = find_windows(j, &u, top);
    if (j->weight) u.r.weight = j->weight + (output * d->kernel[0] + from) * d->kernel[1];
    const float by = mean ? count_of(d, 0, top, j->height) : j->bias ? j->bias[output] : 0.0f;
    make_row(j, &u, by, columns, j->y + (image * d->size[0] + row + k) * d->size[1] + column);
  }
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t first = (size_t)task * j->units_per_task, left = j->units - first,
               count = left < j->units_per_task ? left : j->units_per_task;
  for (size_t i = 0; i < count; i++)
    run_unit(j, first + i, heed_cpu_worker_scratch(j->step, worker));
}

static void run(const heed_cpu_step *step) {
  const heed_depthwise_desc *desc = step->node->desc;
  const uint32_t *x = heed_cpu_shape(step, desc->x.id)->dim;
  uint32_t *place = (uint32_t *)(void *)step->shared;
  job j = {.desc = desc,
           .step = step,
           .x = heed_cpu_input(step, HEED_DEPTHWISE_INPUT_X),
           .weight = heed_cpu_input(step, HEED_DEPTHWISE_INPUT_WEIGHT),
           .bias = heed_cpu_input(step, HEED_DEPTHWISE_INPUT_BIAS),
           .y = step->output[0],
           .pad = desc->kind == HEED_DEPTHWISE_MAX ? -INFINITY : 0.0f,
           .place = place,
           .lay = plan_layout(desc, x[2]),
           .channels = x[1],
           .outputs = heed_cpu_shape(step, step->node->output[0])->dim[1],
           .height = x[2],
           .width = x[3]};
  place_columns(desc, j.lay.phase, place);
  j.pieces = heed_cpu_parts(desc->size[1], j.lay.piece);
  j.bands = heed_cpu_parts(desc->size[0], j.lay.band);
  j.units = x[0] * j.outputs * j.bands * j.pieces;
  const size_t work = j.lay.band * (desc->size[1] < PIECE ? desc->size[1] : PIECE) *
                      desc->kernel[0] * desc->kernel[1];
  j.units_per_task = work < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / work : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.units, j.units_per_task), run_task, &j);
}

static void measure(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                    heed_cpu_need *need) {
  (void)level;
  const heed_depthwise_desc *desc = node->desc;
  const layout l = plan_layout(desc, heed_graph_record(plan->graph, desc->x.id)->shape.dim[2]);
  need->shared = desc->kernel[1] * sizeof(uint32_t);
  need->worker = (l.piece + (uint64_t)l.lines * l.phases * l.phase) * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_depthwise) = {.measure = measure, .run = run};
