/* reduce: each kind over every set of axes against the same in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

/* The results, element after element of x in its order: out[o] of each. */
typedef struct sums {
  double *sum, *square, *absolute, *product, *most, *least, *exps;
  double *first_most, *last_most, *first_least, *last_least, *count;
} sums;

enum { ROOMS = sizeof(sums) / sizeof(double *) };

/* Where element `at` of x goes, and its index along the reduced axes. */
static size_t target(const heed_shape *x, uint32_t axes, size_t at, size_t *index) {
  size_t to = 0, stride = 1, along = 1;
  *index = 0;
  for (uint32_t i = x->rank; i-- > 0; at /= x->dim[i]) {
    const size_t here = at % x->dim[i];
    if (axes >> i & 1u) {
      *index += here * along;
      along *= x->dim[i];
    } else {
      to += here * stride;
      stride *= x->dim[i];
    }
  }
  return to;
}

static void take(const sums *s, size_t to, double v, size_t index) {
  const bool first = s->count[to]++ == 0;
  s->sum[to] += v;
  s->square[to] += v * v;
  s->absolute[to] += fabs(v);
  s->product[to] = first ? v : s->product[to] * v;
  if (first || v > s->most[to]) s->first_most[to] = (double)index;
  if (first || v >= s->most[to]) s->last_most[to] = (double)index;
  if (first || v < s->least[to]) s->first_least[to] = (double)index;
  if (first || v <= s->least[to]) s->last_least[to] = (double)index;
  if (first || v > s->most[to]) s->most[to] = v;
  if (first || v < s->least[to]) s->least[to] = v;
  s->exps[to] += exp(v);
}

static double result(const sums *s, heed_reduce kind, bool last, size_t o) {
  switch (kind) {
    case HEED_REDUCE_MEAN: return s->sum[o] / s->count[o];
    case HEED_REDUCE_MAX: return s->most[o];
    case HEED_REDUCE_MIN: return s->least[o];
    case HEED_REDUCE_PRODUCT: return s->product[o];
    case HEED_REDUCE_L1: return s->absolute[o];
    case HEED_REDUCE_L2: return sqrt(s->square[o]);
    case HEED_REDUCE_SUM_SQUARE: return s->square[o];
    case HEED_REDUCE_LOG_SUM: return log(s->sum[o]);
    case HEED_REDUCE_LOG_SUM_EXP: return log(s->exps[o]);
    case HEED_REDUCE_ARGMAX: return last ? s->last_most[o] : s->first_most[o];
    case HEED_REDUCE_ARGMIN: return last ? s->last_least[o] : s->first_least[o];
    default: return s->sum[o];
  }
}

static void run(heed_shape shape, uint32_t axes, heed_reduce kind, bool keep, bool last,
                uint64_t seed) {
  char what[200], text[HEED_SHAPE_TEXT_SIZE];
  test_random random = {seed};
  op_test test;
  const size_t count = (size_t)heed_shape_count(&shape);
  float *x = op_test_random(&random, count, 1.0f);
  const bool index = kind >= HEED_REDUCE_ARGMAX;
  for (size_t i = 0; i < count; i++) {
    if (index) x[i] = floorf(x[i] * 4.0f); /* with equal ones */
    if (kind == HEED_REDUCE_LOG_SUM) x[i] = fabsf(x[i]) + 0.01f;
    if (kind == HEED_REDUCE_PRODUCT) x[i] = 1.0f + 0.1f * x[i];
  }
  double *room[ROOMS];
  for (size_t i = 0; i < ROOMS; i++) room[i] = calloc(count, sizeof **room);
  const sums s = {room[0], room[1], room[2], room[3], room[4],  room[5],
                  room[6], room[7], room[8], room[9], room[10], room[11]};
  size_t results = 0;
  for (size_t i = 0; i < count; i++) {
    size_t at;
    const size_t to = target(&shape, axes ? axes : 63, i, &at);
    take(&s, to, (double)x[i], at);
    if (to >= results) results = to + 1;
  }
  double *y = op_test_doubles(results);
  for (size_t o = 0; o < results; o++) y[o] = result(&s, kind, last, o);
  snprintf(what, sizeof what, "reduce %s, axes %#x, kind %d, seed %llu",
           heed_shape_text(&shape, text), axes, (int)kind, (unsigned long long)seed);
  op_test_begin(&test);
  const heed_reduce_desc desc = {.struct_size = sizeof desc,
                                 .x = op_test_input(&test, HEED_F32, shape, x),
                                 .kind = kind,
                                 .axes = axes,
                                 .keep_axes = keep,
                                 .last = last};
  const heed_value value = heed_define_reduce(test.graph, &desc);
  heed_value_info info;
  heed_error error = {HEED_OK, ""};
  assert_ok(heed_graph_value_info(test.graph, value, &info));
  assert_int_equal(heed_shape_count(&info.shape), results);
  if (keep) assert_int_equal(info.shape.rank, shape.rank);
  assert_int_equal(info.dtype, index ? HEED_I32 : HEED_F32);
  op_test_expect(&test, value, y);
  op_test_run(&test, what);
  if (count > 50000) op_test_same_bits(&test, what);
  op_test_end(&test);
  for (size_t i = 0; i < ROOMS; i++) free(room[i]);
  free(x);
  free(y);
}

static void test_kinds(void **state) {
  (void)state;
  static const uint32_t widths[] = {1, 7, 16, 33, 67};
  for (uint32_t kind = 0; kind <= HEED_REDUCE_ARGMIN; kind++)
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
      for (uint32_t axis = 0; axis < 3; axis++)
        run(HEED_SHAPE(3, widths[i], 5), 1u << axis, (heed_reduce)kind, i % 2, axis % 2,
            100 * kind + i);
}

static void test_axes(void **state) {
  (void)state;
  for (uint32_t axes = 0; axes < 64; axes++)
    run(HEED_SHAPE(2, 3, 1, 4, 3, 5), axes, axes % 2 ? HEED_REDUCE_MEAN : HEED_REDUCE_MAX,
        axes % 3 == 0, false, axes + 1);
  run((heed_shape){0, {0}}, 0, HEED_REDUCE_SUM, false, false, 1);
}

static void test_large(void **state) {
  (void)state;
  run(HEED_SHAPE(2, 197, 768), 2, HEED_REDUCE_MEAN, false, false, 1);
  run(HEED_SHAPE(2, 197, 768), 4, HEED_REDUCE_MEAN, true, false, 2);
  run(HEED_SHAPE(90001), 1, HEED_REDUCE_L2, false, false, 3);
  run(HEED_SHAPE(3, 5, 10007), 4, HEED_REDUCE_LOG_SUM_EXP, false, false, 4);
  run(HEED_SHAPE(3, 1000, 33), 2, HEED_REDUCE_ARGMAX, false, true, 5);
}

/* NaN wins as extremum and index; log_sum_exp of -Inf alone, of Inf, of numbers far apart. */
static void test_special(void **state) {
  (void)state;
  static const float x[] = {1, NAN,      5, NAN, -INFINITY, -INFINITY, -INFINITY, -INFINITY,
                            0, INFINITY, 1, 2,   1000,      999,       -1000,     1000};
  static const double most[] = {(double)NAN, -(double)INFINITY, (double)INFINITY, 1000},
                      index[] = {1, 0, 1, 0}, last[] = {3, 3, 1, 3},
                      sum_exp[] = {(double)NAN, -(double)INFINITY, (double)INFINITY,
                                   1000.8619948040582};
  op_test test;
  op_test_begin(&test);
  heed_reduce_desc desc = {.struct_size = sizeof desc,
                           .x = op_test_input(&test, HEED_F32, HEED_SHAPE(4, 4), x),
                           .kind = HEED_REDUCE_MAX,
                           .axes = 2};
  op_test_expect(&test, heed_define_reduce(test.graph, &desc), most);
  desc.kind = HEED_REDUCE_LOG_SUM_EXP;
  op_test_expect(&test, heed_define_reduce(test.graph, &desc), sum_exp);
  desc.kind = HEED_REDUCE_ARGMAX;
  op_test_expect(&test, heed_define_reduce(test.graph, &desc), index);
  desc.last = true;
  op_test_expect(&test, heed_define_reduce(test.graph, &desc), last);
  op_test_run(&test, "reduce of NaN and Inf");
  op_test_end(&test);
}

static void wrong(uint32_t axes, heed_reduce kind, const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_shape shape = HEED_SHAPE(2, 3);
  const heed_reduce_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_define_input(test.graph, "x", HEED_F32, &shape),
                                 .kind = kind,
                                 .axes = axes};
  assert_int_equal(heed_define_reduce(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  wrong(4, HEED_REDUCE_SUM, "reduce: axes out of range (found bits 0x4, expected within 0x3)");
  wrong(3, HEED_REDUCE_ARGMAX, "reduce: an index is of one axis (found bits 0x3 of axes)");
  wrong(1, (heed_reduce)12, "reduce: unknown kind (found 12)");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_axes),
                                     cmocka_unit_test(test_large), cmocka_unit_test(test_special),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("reduce", tests, NULL, test_backend_close_all);
}
