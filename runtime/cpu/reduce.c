/* reduce: one number of many. Axes of x that are kept, or reduced, side by side are merged. Where
 * the innermost is reduced, a result is a sum along rows; where it is kept, rows are summed into a
 * piece of results. Means and logarithms are made of the sum; sums of exponentials and indices
 * start from the extremum, which is a first round. */
#include <math.h>
#include <string.h>

#include "cpu/gemm.h"
#include "cpu/simd/maths.h"
#include "cpu/simd/truth.h"
#include "graph/ops/reduce.h"
#include "heed/ops.h"

/* Results of a piece; elements, and rows, that are joined in one chain. */
#define PIECE 256u
#define CHAIN 4096u
#define CHAIN_ROWS 64u

static float join_add(float a, float b) { return a + b; }
static float join_mul(float a, float b) { return a * b; }
static float join_max(float a, float b) { return b != b || a < b ? b : a; }

/* The ways to join elements: what is made of an element x with the number m of its result, how two
 * of those are joined as vectors and as numbers, an element that changes nothing, and the start. An
 * extremum is the most of x or of -x, by m; m is subtracted before exp. */
#define WAYS(X)                                                       \
  X(sum, x, f32_add, join_add, 0.0f, 0.0f)                            \
  X(absolutes, f32_abs(x), f32_add, join_add, 0.0f, 0.0f)             \
  X(squares, f32_mul(x, x), f32_add, join_add, 0.0f, 0.0f)            \
  X(exps, f32_exp(f32_sub(x, m)), f32_add, join_add, -INFINITY, 0.0f) \
  X(product, x, f32_mul, join_mul, 1.0f, 1.0f)                        \
  X(most, f32_mul(x, m), f32_maximum, join_max, -INFINITY *m, -INFINITY)

/* A row to one number; a row into as many numbers, by whole vectors, also past count. */
typedef struct way way;
struct way {
  float (*along)(const float *x, size_t count, float m);
  void (*across)(const float *x, size_t count, const float *m, float *all);
  float (*join)(float a, float b);
  float start;
};

/* The vectors of a step along a row, which are independent of each other; the scalar level, which
 * is for reference, joins in order. */
#define STEP_VECTORS (HEED_SIMD_WIDTH > 1 ? 4u : 1u)
#define STEP (STEP_VECTORS * HEED_SIMD_WIDTH)

/* `count` floats and then `pad` up to a whole step, or vector. */
static const float *padded(const float *x, size_t count, size_t whole, float pad, float *room) {
  for (size_t i = 0; i < whole; i++) room[i] = pad;
  return memcpy(room, x, count * sizeof *x);
}

#define WAY(name, value, joined, join_one, pad, first)                                           \
  static inline f32xN of_##name(f32xN x, f32xN m) {                                              \
    (void)m;                                                                                     \
    return value;                                                                                \
  }                                                                                              \
  static float along_##name(const float *x, size_t count, float m) {                             \
    float room[STEP];                                                                            \
    f32xN all[STEP_VECTORS];                                                                     \
    for (uint32_t v = 0; v < STEP_VECTORS; v++) all[v] = f32_set1(first);                        \
    for (size_t i = 0; i < count; i += STEP) {                                                   \
      const float *from = count - i < STEP ? padded(x + i, count - i, STEP, pad, room) : x + i;  \
      for (uint32_t v = 0; v < STEP_VECTORS; v++)                                                \
        all[v] = joined(all[v], of_##name(f32_load(from + v * HEED_SIMD_WIDTH), f32_set1(m)));   \
    }                                                                                            \
    for (uint32_t half = STEP_VECTORS / 2; half > 0; half /= 2)                                  \
      for (uint32_t v = 0; v < half; v++) all[v] = joined(all[2 * v], all[2 * v + 1]);           \
    f32_store(room, all[0]);                                                                     \
    for (uint32_t lane = 1; lane < HEED_SIMD_WIDTH; lane++)                                      \
      room[0] = join_one(room[0], room[lane]);                                                   \
    return room[0];                                                                              \
  }                                                                                              \
  static void across_##name(const float *x, size_t count, const float *m, float *all) {          \
    float room[HEED_SIMD_WIDTH];                                                                 \
    for (size_t i = 0; i < count; i += HEED_SIMD_WIDTH) {                                        \
      const float *from = count - i < HEED_SIMD_WIDTH                                            \
                              ? padded(x + i, count - i, HEED_SIMD_WIDTH, 0.0f, room)            \
                              : x + i;                                                           \
      f32_store(all + i, joined(f32_load(all + i), of_##name(f32_load(from), f32_load(m + i)))); \
    }                                                                                            \
  }                                                                                              \
  static const way name = {along_##name, across_##name, join_one, first};

static float along(const way *w, const float *x, size_t count, float m) {
  return w->along(x, count, m);
}

/* The most of a row by a plain maximum, which loses NaN: where all elements are finite. */
static bool find_most(const float *x, size_t count, float m, float *found) {
  const f32xN sign = f32_set1(m), zero = f32_set1(0.0f);
  f32xN all = f32_set1(-INFINITY), other = all, spoilt = zero;
  if (HEED_SIMD_WIDTH == 1 || count < 2 * HEED_SIMD_WIDTH) return false;
  for (size_t i = 0; i < count; i += 2 * HEED_SIMD_WIDTH) { /* at the end some are seen twice */
    const float *from = x + (count - i < 2 * HEED_SIMD_WIDTH ? count - 2 * HEED_SIMD_WIDTH : i);
    const f32xN a = f32_mul(f32_load(from), sign),
                b = f32_mul(f32_load(from + HEED_SIMD_WIDTH), sign);
    all = f32_max(a, all);
    other = f32_max(b, other);
    spoilt = f32_fma(a, zero, f32_fma(b, zero, spoilt));
  }
  *found = f32_reduce_max(f32_max(all, other));
  return f32_reduce_add(spoilt) == 0.0f;
}

static void across(const way *w, const float *x, size_t count, const float *m, float *all) {
  w->across(x, count, m, all);
}

WAYS(WAY)

static const way *const ways[] = {
    [HEED_REDUCE_SUM] = &sum,         [HEED_REDUCE_MEAN] = &sum,
    [HEED_REDUCE_MAX] = &most,        [HEED_REDUCE_MIN] = &most,
    [HEED_REDUCE_PRODUCT] = &product, [HEED_REDUCE_L1] = &absolutes,
    [HEED_REDUCE_L2] = &squares,      [HEED_REDUCE_SUM_SQUARE] = &squares,
    [HEED_REDUCE_LOG_SUM] = &sum,     [HEED_REDUCE_LOG_SUM_EXP] = &exps,
    [HEED_REDUCE_ARGMAX] = &most,     [HEED_REDUCE_ARGMIN] = &most,
};

typedef struct axes {
  uint32_t count;
  size_t size[HEED_MAX_RANK], stride[HEED_MAX_RANK]; /* innermost first */
  size_t all;                                        /* of all sizes */
} axes;

typedef struct job {
  const heed_reduce_desc *desc;
  const float *x;
  void *y;
  bool inner;    /* the innermost axis is reduced */
  size_t length; /* of the innermost axis, which neither list has */
  axes kept, gone;
  size_t pieces, units, units_per_task;
} job;

static size_t place(const axes *list, size_t number) {
  size_t at = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    at += number % list->size[i] * list->stride[i];
    number /= list->size[i];
  }
  return at;
}

static bool is_index(const job *j) { return j->desc->kind >= HEED_REDUCE_ARGMAX; }

/* The number m of a kind's first round. */
static float sign_of(heed_reduce kind) {
  return kind == HEED_REDUCE_MIN || kind == HEED_REDUCE_ARGMIN ? -1.0f : 1.0f;
}

/* The result, of what was joined with m. */
static float finish(const job *j, float all, float m) {
  switch (j->desc->kind) {
    case HEED_REDUCE_MEAN: return all / (float)(j->gone.all * (j->inner ? j->length : 1));
    case HEED_REDUCE_L2: return sqrtf(all);
    case HEED_REDUCE_LOG_SUM: return (float)log((double)all);
    case HEED_REDUCE_LOG_SUM_EXP: return isfinite(m) ? (float)log((double)all) + m : m;
    default: return all * m;
  }
}

static bool is_same(float a, float b) { return a == b || (a != a && b != b); }

/* ---- the innermost axis is reduced */

static float join_rows(const job *j, const way *w, const float *x, float m) {
  float all = w->start;
  for (size_t row = 0; row < j->gone.all; row++) {
    const float *from = x + place(&j->gone, row);
    for (size_t i = 0; i < j->length; i += CHAIN) {
      const size_t count = j->length - i < CHAIN ? j->length - i : CHAIN;
      float part;
      if (w != &most || !find_most(from + i, count, m, &part)) part = along(w, from + i, count, m);
      all = w->join(all, part);
    }
  }
  return all;
}

static int32_t find(const job *j, const float *x, float value) {
  for (size_t i = 0; i < j->length; i++) {
    const size_t at = j->desc->last ? j->length - 1 - i : i;
    if (is_same(x[at], value)) return (int32_t)at;
  }
  return 0;
}

static void reduce_inner(const job *j, size_t unit) {
  const heed_reduce kind = j->desc->kind;
  const float *x = j->x + place(&j->kept, unit);
  float m = sign_of(kind);
  if (kind == HEED_REDUCE_LOG_SUM_EXP) m = join_rows(j, &most, x, m);
  const float result = finish(j, join_rows(j, ways[kind], x, m), m);
  if (is_index(j))
    ((int32_t *)j->y)[unit] = find(j, x, result);
  else
    ((float *)j->y)[unit] = result;
}

/* ---- the innermost axis is kept */

static void join_columns(const job *j, const way *w, const float *x, size_t count, const float *m,
                         float *all) {
  float chain[PIECE];
  for (size_t i = 0; i < PIECE; i++) all[i] = chain[i] = w->start;
  for (size_t row = 0; row < j->gone.all; row++) {
    across(w, x + place(&j->gone, row), count, m, chain);
    if ((row + 1) % CHAIN_ROWS != 0 && row + 1 < j->gone.all) continue;
    for (size_t i = 0; i < count; i++) {
      all[i] = w->join(all[i], chain[i]);
      chain[i] = w->start;
    }
  }
}

static void find_rows(const job *j, const float *x, size_t count, const float *values,
                      int32_t *index) {
  for (size_t i = 0; i < count; i++) index[i] = -1;
  for (size_t i = 0; i < j->gone.all; i++) {
    const size_t row = j->desc->last ? j->gone.all - 1 - i : i;
    const float *from = x + place(&j->gone, row);
    for (size_t c = 0; c < count; c++)
      if (index[c] < 0 && is_same(from[c], values[c])) index[c] = (int32_t)row;
  }
}

static void reduce_outer(const job *j, size_t unit) {
  const heed_reduce kind = j->desc->kind;
  const size_t column = unit % j->pieces * PIECE, left = j->length - column,
               count = left < PIECE ? left : PIECE, to = unit / j->pieces * j->length + column;
  const float *x = j->x + place(&j->kept, unit / j->pieces) + column;
  float m[PIECE], all[PIECE];
  for (size_t i = 0; i < PIECE; i++) m[i] = sign_of(kind);
  if (kind == HEED_REDUCE_LOG_SUM_EXP) {
    join_columns(j, &most, x, count, m, all);
    memcpy(m, all, sizeof m);
  }
  join_columns(j, ways[kind], x, count, m, all);
  for (size_t i = 0; i < count; i++) all[i] = finish(j, all[i], m[i]);
  if (is_index(j))
    find_rows(j, x, count, all, (int32_t *)j->y + to);
  else
    memcpy((float *)j->y + to, all, count * sizeof *all);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t first = (size_t)task * j->units_per_task, left = j->units - first,
               count = left < j->units_per_task ? left : j->units_per_task;
  for (size_t i = 0; i < count; i++) (j->inner ? reduce_inner : reduce_outer)(j, first + i);
}

/* ---- which axes */

static void list_axis(axes *list, size_t size, size_t stride) {
  list->all *= size;
  const uint32_t last = list->count - 1;
  if (list->count && list->stride[last] * list->size[last] == stride) {
    list->size[last] *= size;
    return;
  }
  list->size[list->count] = size;
  list->stride[list->count++] = stride;
}

static void plan_axes(job *j, const heed_shape *x) {
  size_t stride = 1;
  bool within = true; /* the innermost axis, merged with those before it */
  j->length = j->kept.all = j->gone.all = 1;
  for (uint32_t i = x->rank; i-- > 0;) {
    const bool gone = j->desc->axes >> i & 1u;
    const size_t size = x->dim[i];
    if (size == 1) continue;
    if (j->length == 1) j->inner = gone;
    within = within && gone == j->inner;
    if (within)
      j->length *= size;
    else
      list_axis(gone ? &j->gone : &j->kept, size, stride);
    stride *= size;
  }
}

static void run(const heed_cpu_step *step) {
  const heed_reduce_desc *desc = step->node->desc;
  job j = {.desc = desc, .x = heed_cpu_input(step, HEED_REDUCE_INPUT_X), .y = step->output[0]};
  plan_axes(&j, heed_cpu_shape(step, desc->x.id));
  j.pieces = heed_cpu_parts(j.length, PIECE);
  j.units = j.inner ? j.kept.all : j.kept.all * j.pieces;
  const size_t work = j.gone.all * (j.inner || j.length < PIECE ? j.length : PIECE);
  j.units_per_task = work < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / work : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.units, j.units_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_reduce) = {.run = run};
