/* elementwise: y = kind(a, b, c), numpy's broadcasting. Axes that all inputs step through alike are
 * merged. A task is a run of y in pieces; an input that does not lie there as floats in a row is
 * fetched into a piece of its own first. */
#include <math.h>
#include <string.h>

#include "cpu/gemm.h"
#include "cpu/simd/maths.h"
#include "cpu/simd/truth.h"
#include "graph/ops/elementwise.h"
#include "heed/ops.h"

/* Elements of a piece: three inputs and y stay in the first cache. */
#define PIECE 512u

typedef heed_elementwise_desc desc;

/* ---- one vector */

static inline f32xN one(void) { return f32_set1(1.0f); }
static inline f32xN zero(void) { return f32_set1(0.0f); }

/* f32_exp ends at 88; from 87 on the square of that of half the number. */
static inline f32xN exponential(f32xN a) {
  const f32xN edge = f32_set1(87.0f), half = f32_mul(f32_set1(0.5f), a);
  const f32xN low = f32_select_less(edge, a, f32_select_less(edge, half, edge, half), a);
  const f32xN e = f32_exp(low);
  return f32_select_less(edge, a, f32_mul(e, e), e);
}

/* Whole numbers: adding and taking away 2^23 rounds to even. */
static inline f32xN whole(f32xN a) {
  const f32xN size = f32_abs(a), all = f32_set1(8388608.0f);
  const f32xN rounded = f32_copysign(f32_sub(f32_add(size, all), all), a);
  return f32_select_less(size, all, rounded, a);
}
static inline f32xN floor_of(f32xN a) {
  const f32xN near = whole(a);
  return f32_copysign(f32_select_less(a, near, f32_sub(near, one()), near), a);
}

/* exp(a) - 1 = 2 t / (1 - t) with t = tanh(a / 2), which loses nothing near 0. */
static inline f32xN elu(f32xN a, float alpha) {
  const f32xN t = f32_tanh(f32_mul(f32_set1(0.5f), a));
  const f32xN low = f32_div(f32_add(t, t), f32_sub(one(), t));
  return f32_select_less(a, zero(), f32_mul(f32_set1(alpha), low), a);
}
static inline f32xN cut(f32xN a, float least, float most) {
  const f32xN low = f32_set1(least), high = f32_set1(most), y = f32_select_less(a, low, low, a);
  return f32_select_less(high, y, high, y);
}

/* 0 has its sign, too. */
static inline f32xN negative(f32xN a) { return f32_mul(a, f32_set1(-1.0f)); }
static inline f32xN less_equal(f32xN a, f32xN b) {
  return f32_select_less(b, a, zero(), f32_mul(f32_is_number(a), f32_is_number(b)));
}
static inline f32xN not_zero(f32xN a) { return f32_sub(one(), f32_is_zero(a)); }

/* What each kind makes of vectors a, b and c by the desc d. */
#define KINDS(X)                                                                               \
  X(IDENTITY, a)                                                                               \
  X(NEGATE, negative(a))                                                                       \
  X(ABSOLUTE, f32_abs(a))                                                                      \
  X(RECIPROCAL, f32_div(one(), a))                                                             \
  X(SQUARE_ROOT, f32_sqrt(a))                                                                  \
  X(EXP, exponential(a))                                                                       \
  X(ERF, f32_erf(a))                                                                           \
  X(FLOOR, floor_of(a))                                                                        \
  X(CEIL, negative(floor_of(negative(a))))                                                     \
  X(ROUND, whole(a))                                                                           \
  X(SIGN, f32_select_less(a, zero(), f32_set1(-1.0f), f32_select_less(zero(), a, one(), a)))   \
  X(NOT, f32_is_zero(a))                                                                       \
  X(IS_NAN, f32_sub(one(), f32_is_number(a)))                                                  \
  X(IS_INFINITE, f32_select_less(f32_abs(a), f32_set1(INFINITY), zero(), f32_is_number(a)))    \
  X(LEAKY_RELU, f32_select_less(a, zero(), f32_mul(f32_set1(d->alpha), a), a))                 \
  X(ELU, elu(a, d->alpha))                                                                     \
  X(HARD_SIGMOID, cut(f32_add(f32_mul(f32_set1(d->alpha), a), f32_set1(d->beta)), 0.0f, 1.0f)) \
  X(CLIP, cut(a, d->alpha, d->beta))                                                           \
  X(ADD, f32_add(a, b))                                                                        \
  X(SUBTRACT, f32_sub(a, b))                                                                   \
  X(MULTIPLY, f32_mul(a, b))                                                                   \
  X(DIVIDE, f32_div(a, b))                                                                     \
  X(MINIMUM, f32_minimum(a, b))                                                                \
  X(MAXIMUM, f32_maximum(a, b))                                                                \
  X(EQUAL, f32_select_less(a, b, zero(), less_equal(a, b)))                                    \
  X(LESS, f32_select_less(a, b, one(), zero()))                                                \
  X(LESS_EQUAL, less_equal(a, b))                                                              \
  X(GREATER, f32_select_less(b, a, one(), zero()))                                             \
  X(GREATER_EQUAL, less_equal(b, a))                                                           \
  X(AND, f32_mul(not_zero(a), not_zero(b)))                                                    \
  X(OR, f32_sub(one(), f32_mul(f32_is_zero(a), f32_is_zero(b))))                               \
  X(XOR, f32_abs(f32_sub(f32_is_zero(a), f32_is_zero(b))))                                     \
  X(SELECT, f32_choose(f32_is_zero(a), c, b))

/* ---- one number: by C's functions of doubles, which a module of WebAssembly has from its engine
 */

/* log(1 + e), which is e where that is small. */
static double softplus(double a) {
  const double e = exp(-fabs(a)), low = e < 1e-8 ? e : log(1.0 + e);
  return (a < 0.0 ? 0.0 : a) + low;
}
static double modulus(double a, double b) {
  const double rest = fmod(a, b);
  return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

#define NUMBER_KINDS(X)     \
  X(LOG, log(a))            \
  X(SIN, sin(a))            \
  X(COS, cos(a))            \
  X(SOFTPLUS, softplus(a))  \
  X(POWER, pow(a, b))       \
  X(MODULUS, modulus(a, b)) \
  X(REMAINDER, fmod(a, b))

/* ---- whole vectors. */

typedef void (*kind_code)(const float *const x[3], const desc *d, float *y, size_t count);
#define CODE(kind, value)                                                                   \
  static void code_##kind(const float *const x[3], const desc *d, float *y, size_t count) { \
    for (size_t i = 0; i < count; i += HEED_SIMD_WIDTH) {                                   \
      const f32xN a = f32_load(x[0] + i), b = f32_load(x[1] + i), c = f32_load(x[2] + i);   \
      (void)a, (void)b, (void)c, (void)d;                                                   \
      f32_store(y + i, value);                                                              \
    }                                                                                       \
  }
#define NUMBER_CODE(kind, value)                                                            \
  static void code_##kind(const float *const x[3], const desc *d, float *y, size_t count) { \
    (void)d;                                                                                \
    for (size_t i = 0; i < count; i++) {                                                    \
      const double a = (double)x[0][i], b = (double)x[1][i];                                \
      (void)b;                                                                              \
      y[i] = (float)(value);                                                                \
    }                                                                                       \
  }

KINDS(CODE)
NUMBER_KINDS(NUMBER_CODE)

static const kind_code codes[] = {
#define ENTRY(kind, value) [HEED_ELEMENTWISE_##kind] = code_##kind,
    KINDS(ENTRY) NUMBER_KINDS(ENTRY)};

static void compute_vectors(heed_elementwise kind, const float *const x[3], const desc *d, float *y,
                            size_t count) {
  codes[kind](x, d, y, count);
}

/* Squares, which most powers are, are products. */
static bool are_squares(const float *b, size_t count) {
  size_t i = 0;
  while (i < count && b[i] == 2.0f) i++;
  return i == count;
}

/* x: an input that the kind has not is another. */
static void compute(const float *x[3], const desc *d, float *y, size_t count) {
  heed_elementwise kind = d->kind;
  if (kind == HEED_ELEMENTWISE_POWER && are_squares(x[1], count)) {
    kind = HEED_ELEMENTWISE_MULTIPLY;
    x[1] = x[0];
  }
  const uint32_t rest = count % HEED_SIMD_WIDTH;
  const size_t even = count - rest;
  compute_vectors(kind, x, d, y, even);
  if (!rest) return;
  float last[3][HEED_SIMD_WIDTH], result[HEED_SIMD_WIDTH];
  const float *const from[3] = {last[0], last[1], last[2]};
  for (uint32_t i = 0; i < 3; i++) f32_store(last[i], f32_load_tail(x[i] + even, rest));
  compute_vectors(kind, from, d, result, HEED_SIMD_WIDTH);
  f32_store_tail(y + even, f32_load(result), rest);
}

/* ---- inputs and results of every dtype */

typedef struct source {
  const void *data;
  heed_dtype dtype;
  bool dense, single;           /* as y lies; one element alone */
  size_t stride[HEED_MAX_RANK]; /* of y's merged axes, innermost first */
} source;

typedef struct job {
  const desc *d;
  source inputs[HEED_ELEMENTWISE_INPUTS];
  uint32_t axes;
  size_t size[HEED_MAX_RANK], count;
  void *y;
} job;

/* `count` elements from `at` on, or one of them for all. */
static void convert(const source *s, size_t at, bool repeated, size_t count, float *to) {
  if (repeated) {
    const float all = s->dtype == HEED_F32   ? ((const float *)s->data)[at]
                      : s->dtype == HEED_I32 ? (float)((const int32_t *)s->data)[at]
                                             : (float)((const uint8_t *)s->data)[at];
    for (size_t i = 0; i < count; i++) to[i] = all;
  } else if (s->dtype == HEED_F32) {
    memcpy(to, (const float *)s->data + at, count * sizeof *to);
  } else if (s->dtype == HEED_I32) {
    for (size_t i = 0; i < count; i++) to[i] = (float)((const int32_t *)s->data)[at + i];
  } else {
    for (size_t i = 0; i < count; i++) to[i] = (float)((const uint8_t *)s->data)[at + i];
  }
}

/* What meets elements [first, first + count) of y, run by run of the innermost axis. */
static void gather(const job *j, const source *s, size_t first, size_t count, float *to) {
  size_t column = first % j->size[0], row = first / j->size[0];
  while (count > 0) {
    const size_t left = j->size[0] - column, here = left < count ? left : count;
    size_t at = column * s->stride[0], number = row;
    for (uint32_t i = 1; i < j->axes; i++) {
      at += number % j->size[i] * s->stride[i];
      number /= j->size[i];
    }
    convert(s, at, s->stride[0] == 0, here, to);
    to += here;
    count -= here;
    column = 0;
    row++;
  }
}

static void store(heed_dtype dtype, const float *from, void *y, size_t first, size_t count) {
  if (dtype == HEED_U8) {
    for (size_t i = 0; i < count; i++) ((uint8_t *)y)[first + i] = from[i] != 0.0f;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const float v = from[i];
    ((int32_t *)y)[first + i] = v >= 2147483648.0f    ? INT32_MAX
                                : v <= -2147483648.0f ? INT32_MIN
                                : v == v              ? (int32_t)v
                                                      : 0;
  }
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const size_t first = (size_t)task * HEED_CPU_GRAIN,
               end = j->count - first < HEED_CPU_GRAIN ? j->count : first + HEED_CPU_GRAIN;
  float room[4][PIECE];
  for (size_t at = first; at < end; at += PIECE) {
    const size_t count = end - at < PIECE ? end - at : PIECE;
    const float *x[3] = {room[0], room[0], room[0]};
    for (uint32_t i = 0; i < 3 && j->inputs[i].data; i++) {
      const source *s = &j->inputs[i];
      x[i] = room[i];
      if (s->dense && s->dtype == HEED_F32)
        x[i] = (const float *)s->data + at;
      else if (s->dense)
        convert(s, at, false, count, room[i]);
      else if (!s->single || at == first)
        gather(j, s, at, count, room[i]);
    }
    for (uint32_t i = 1; i < 3; i++)
      if (!j->inputs[i].data) x[i] = x[0];
    const bool direct = j->d->dtype == HEED_F32;
    compute(x, j->d, direct ? (float *)j->y + at : room[3], count);
    if (!direct) store(j->d->dtype, room[3], j->y, at, count);
  }
}

/* Whether an axis with these strides goes on where the axis `last` ends, in all inputs. */
static bool goes_on(const job *j, uint32_t last, const size_t stride[3]) {
  for (uint32_t i = 0; i < 3; i++)
    if (stride[i] != j->inputs[i].stride[last] * j->size[last]) return false;
  return true;
}

static void append_axis(job *j, size_t size, const size_t stride[3]) {
  for (uint32_t i = 0; i < 3; i++) j->inputs[i].stride[j->axes] = stride[i];
  j->size[j->axes++] = size;
}

/* Merges axis `size` with the one listed last, if all inputs agree. */
static void list_axis(job *j, size_t size, const size_t stride[3]) {
  if (j->axes > 0 && goes_on(j, j->axes - 1, stride))
    j->size[j->axes - 1] *= size;
  else
    append_axis(j, size, stride);
}

static void plan_axes(job *j, const heed_shape *y, const heed_shape *const x[3]) {
  size_t step[3] = {1, 1, 1}, stride[3], whole = 1;
  for (uint32_t i = 0; i < 3; i++) j->inputs[i].dense = j->inputs[i].single = x[i] != NULL;
  for (uint32_t axis = 0; axis < y->rank; axis++) { /* from the last on */
    const size_t size = y->dim[y->rank - 1 - axis];
    if (size == 1) continue;
    for (uint32_t i = 0; i < 3; i++) {
      const size_t have = x[i] && axis < x[i]->rank ? x[i]->dim[x[i]->rank - 1 - axis] : 1;
      stride[i] = have == 1 ? 0 : step[i];
      step[i] *= have;
      if (have == 1) j->inputs[i].dense = false;
      if (have != 1) j->inputs[i].single = false;
    }
    list_axis(j, size, stride);
    whole *= size;
  }
  if (j->axes == 0) append_axis(j, 1, (const size_t[3]){0, 0, 0});
  j->count = whole;
}

static void run(const heed_cpu_step *step) {
  job j = {.d = step->node->desc, .y = step->output[0]};
  const heed_shape *shapes[3] = {NULL, NULL, NULL};
  for (uint32_t i = 0; i < HEED_ELEMENTWISE_INPUTS; i++) {
    const uint32_t id = step->node->input[i];
    if (!id) continue;
    j.inputs[i].data = heed_cpu_input(step, i);
    j.inputs[i].dtype = heed_graph_record(step->plan->graph, id)->dtype;
    shapes[i] = heed_cpu_shape(step, id);
  }
  plan_axes(&j, heed_cpu_shape(step, step->node->output[0]), shapes);
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.count, HEED_CPU_GRAIN), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_elementwise) = {.run = run};
