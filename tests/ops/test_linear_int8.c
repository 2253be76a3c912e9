/* linear with weights in int8: every level and number of threads against plain C, to the bit. Rows
 * are quantised as docs/quantisation.md says; sums are whole numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* The levels that differ from others by their products of int8 alone, too. */
bool test_backend_wants_int8(void) { return true; }

/* What the rows of x and of the weight are like. */
typedef enum kind { NORMAL, LARGEST, SMALLEST, ALTERNATING, ZEROS, OUTLIER, POSITIVE, TINY } kind;
#define KINDS 8

typedef struct int8_case {
  uint32_t rows, depth, columns;
  kind x, weight;
  bool bias, residual;
  uint32_t heads, parts;
  heed_activation activation;
  uint32_t pictures; /* that share the rows; 0: one */
} int8_case;

typedef struct tensors {
  float *x, *scale, *bias, *residual;
  int8_t *weight;
  double *y;
} tensors;

static float make_x(kind k, size_t i, test_random *random) {
  const float normal = test_random_normal(random);
  switch (k) {
    case LARGEST: return 3.0f;
    case SMALLEST: return -2.5f;
    case ALTERNATING: return i % 2 ? 1.0f : -1.0f;
    case ZEROS: return 0.0f;
    case OUTLIER: return i == 5 ? 3e30f : normal;
    case POSITIVE: return fabsf(normal) + 7.0f;
    case TINY: return 1e-42f * normal;
    default: return normal;
  }
}

static int8_t make_weight(kind k, size_t i, test_random *random) {
  const int any = (int)test_random_below(random, 256) - 128;
  switch (k) {
    case LARGEST: return 127;
    case SMALLEST: return -128;
    case ALTERNATING: return i % 2 ? 127 : -128;
    case ZEROS: return 0;
    case OUTLIER: return i == 5 ? 127 : (int8_t)(any % 3);
    default: return (int8_t)any;
  }
}

/* The grid of a row: step, offset. */
static void choose_grid(const float *x, size_t depth, float *step, int *zero) {
  float least = 0.0f, most = 0.0f;
  bool finite = true;
  for (size_t k = 0; k < depth; k++) {
    finite = finite && isfinite(x[k]);
    least = x[k] < least ? x[k] : least;
    most = x[k] > most ? x[k] : most;
  }
  *step = finite ? most / 255.0f - least / 255.0f : NAN;
  if (*step < 0x1p-126f) *step = 1.0f;
  const float inverse = 1.0f / *step;
  const double offset = nearbyint((double)(-least * inverse));
  *zero = finite ? (int)(offset > 255 ? 255 : offset) : 0;
}

static int64_t whole_sum(const int8_case *c, const tensors *t, size_t row, size_t column,
                         float step, int zero) {
  int64_t sum = 0;
  const float inverse = 1.0f / step;
  for (size_t k = 0; k < c->depth; k++) {
    double q = nearbyint((double)(t->x[row * c->depth + k] * inverse)) + zero;
    q = q < 0 ? 0 : q > 255 ? 255 : q;
    sum += ((int64_t)q - zero) * t->weight[column * c->depth + k];
  }
  return sum;
}

static double activate(heed_activation activation, double x) {
  return activation == HEED_ACTIVATION_GELU ? 0.5 * x * erfc(-x / sqrt(2.0)) : x;
}

static uint32_t pictures(const int8_case *c) { return c->pictures ? c->pictures : 1; }

/* Where element (row, column) lies in y: [rows, columns] or [parts, pictures, heads, tokens,
 * depth].
 */
static size_t place(const int8_case *c, size_t row, size_t column) {
  if (!c->heads) return row * c->columns + column;
  const size_t depth = c->columns / (c->parts * c->heads), tokens = c->rows / pictures(c),
               part = column / depth / c->heads, head = column / depth % c->heads,
               plane = (part * pictures(c) + row / tokens) * c->heads + head;
  return (plane * tokens + row % tokens) * depth + column % depth;
}

static void expect(const int8_case *c, tensors *t) {
  for (size_t row = 0; row < c->rows; row++) {
    float step;
    int zero;
    choose_grid(t->x + row * c->depth, c->depth, &step, &zero);
    for (size_t n = 0; n < c->columns; n++) {
      float y = NAN;
      if (!isnan(step)) {
        const int64_t sum = whole_sum(c, t, row, n, step, zero);
        assert_true(sum >= INT32_MIN && sum <= INT32_MAX);
        y = (float)sum * (step * t->scale[n]);
        if (c->bias) y += t->bias[n];
      }
      double result = activate(c->activation, (double)y);
      if (c->residual) {
        const float other = t->residual[row * c->columns + n];
        result = c->activation ? result + (double)other : (double)(y + other);
      }
      t->y[place(c, row, n)] = result;
    }
  }
}

static void make(const int8_case *c, uint64_t seed, tensors *t) {
  test_random random = {seed};
  const size_t rows = c->rows, n = c->columns, k = c->depth;
  t->x = op_test_zeros(rows * k);
  for (size_t i = 0; i < rows * k; i++)
    t->x[i] =
        make_x(i / k % 3 == 2 && c->x == NORMAL ? (kind)(i / k % KINDS) : c->x, i % k, &random);
  t->weight = malloc(n * k);
  assert_non_null(t->weight);
  for (size_t i = 0; i < n * k; i++) t->weight[i] = make_weight(c->weight, i % k, &random);
  t->scale = op_test_random(&random, n, 0.01f);
  for (size_t i = 0; i < n; i++) t->scale[i] += t->scale[i] < 0 ? -1e-4f : 1e-4f;
  t->bias = op_test_random(&random, n, 1.0f);
  t->residual = op_test_random(&random, rows * n, 1.0f);
  t->y = op_test_doubles(rows * n);
}

static void release(tensors *t) {
  free(t->x);
  free(t->weight);
  free(t->scale);
  free(t->bias);
  free(t->residual);
  free(t->y);
}

static heed_value define_weight(op_test *test, const int8_case *c, const tensors *t) {
  const heed_quantised_desc weight = {.struct_size = sizeof weight,
                                      .shape = HEED_SHAPE(c->columns, c->depth),
                                      .scale = t->scale,
                                      .data = t->weight};
  return heed_define_quantised(test->graph, &weight);
}

static void define(op_test *test, const int8_case *c, const tensors *t) {
  heed_linear_desc desc = {.struct_size = sizeof desc,
                           .activation = c->activation,
                           .heads = c->heads,
                           .parts = c->parts};
  op_test_begin(test);
  test->tolerance = c->activation ? 2e-5 : 0.0;
  desc.x =
      op_test_input(test, HEED_F32, HEED_SHAPE(pictures(c), c->rows / pictures(c), c->depth), t->x);
  desc.weight = define_weight(test, c, t);
  if (c->bias) desc.bias = op_test_constant(test, HEED_F32, HEED_SHAPE(c->columns), t->bias);
  if (c->residual)
    desc.residual = op_test_input(
        test, HEED_F32, HEED_SHAPE(pictures(c), c->rows / pictures(c), c->columns), t->residual);
  op_test_expect(test, heed_define_linear(test->graph, &desc), t->y);
}

static void run_case(const int8_case *c, uint64_t seed, bool bits) {
  char what[160];
  tensors t;
  op_test test;
  if (!test_takes()) return;
  snprintf(what, sizeof what,
           "int8 linear %u x %u x %u, x kind %d, weight kind %d, bias %d, residual %d, heads %u, "
           "parts %u, activation %d, seed %llu",
           c->rows, c->depth, c->columns, (int)c->x, (int)c->weight, c->bias, c->residual, c->heads,
           c->parts, (int)c->activation, (unsigned long long)seed);
  make(c, seed, &t);
  expect(c, &t);
  define(&test, c, &t);
  if (bits)
    op_test_same_bits(&test, what);
  else
    op_test_run(&test, what);
  op_test_end(&test);
  release(&t);
}

/* Around every tile: rows of 4, 6, 8 and 12, columns of 2, 8, 16 and 32, groups of 2 and 4. */
static void test_sizes(void **state) {
  (void)state;
  static const uint32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25},
                        depths[] = {1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 67, 131},
                        columns[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65};
  uint64_t seed = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t j = 0; j < sizeof depths / sizeof *depths; j++, seed++) {
      const int8_case c = {rows[i], depths[j], columns[seed % (sizeof columns / sizeof *columns)],
                           .bias = seed % 2, .residual = seed % 3 == 0};
      run_case(&c, seed, false);
    }
  for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
    const int8_case c = {5, 37, columns[j], .bias = true};
    run_case(&c, seed + j, false);
  }
}

static void test_extremes(void **state) {
  (void)state;
  for (uint32_t x = 0; x < KINDS; x++)
    for (uint32_t w = 0; w <= OUTLIER; w++) {
      const int8_case c = {13, 70, 35, (kind)x, (kind)w, .bias = w % 2};
      run_case(&c, 100 + x * KINDS + w, false);
    }
}

/* The largest sums that a row can have: int32 holds them. */
static void test_longest(void **state) {
  (void)state;
  static const kind weights[] = {LARGEST, SMALLEST, ALTERNATING};
  static const kind xs[] = {LARGEST, SMALLEST, ALTERNATING};
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++) {
      const int8_case c = {2, 65000, 3, xs[i], weights[j]};
      run_case(&c, 300 + i * 3 + j, false);
    }
}

/* A row that is longer is multiplied as floats. */
static void test_too_long(void **state) {
  (void)state;
  if (test_backend_is_half()) return; /* test_linear is about weights in fp16 */
  const int8_case c = {2, 65001, 3};
  tensors t;
  op_test test;
  make(&c, 7, &t);
  for (size_t row = 0; row < c.rows; row++)
    for (size_t n = 0; n < c.columns; n++)
      for (size_t k = 0; k < c.depth; k++)
        t.y[row * c.columns + n] +=
            (double)t.x[row * c.depth + k] * (double)t.weight[n * c.depth + k] * (double)t.scale[n];
  define(&test, &c, &t);
  test.tolerance = 1e-3;
  op_test_run(&test, "int8 linear of a depth beyond the sums of int8");
  op_test_end(&test);
  release(&t);
}

static void test_epilogues(void **state) {
  (void)state;
  static const int8_case cases[] = {
      {197, 48, 97, .bias = true, .residual = true, .activation = HEED_ACTIVATION_GELU},
      {257, 13, 40, .bias = true, .residual = true},
      {600, 24, 36, .bias = true},
      {1100, 96, 35, .bias = true, .residual = true}, /* several groups of rows */
      {29, 3072, 33, .bias = true},
      {13, 20, 72, .bias = true, .heads = 3, .parts = 3},
      {17, 32, 60, .heads = 2, .parts = 3},
      {7, 9, 105, .bias = true, .heads = 5, .parts = 3, .activation = HEED_ACTIVATION_GELU},
      {197, 64, 192, .bias = true, .heads = 1, .parts = 3},
      /* heads of whole panels, tiles across two pictures and more */
      {39, 24, 384, .bias = true, .heads = 2, .parts = 3, .pictures = 3},
      {26, 24, 64, .heads = 1, .parts = 1, .pictures = 13},
      {38, 24, 64, .bias = true, .residual = true, .pictures = 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], 500 + i, false);
}

static void test_not_finite(void **state) {
  (void)state;
  const int8_case c = {5, 40, 9, .bias = true};
  tensors t;
  op_test test;
  make(&c, 11, &t);
  t.x[0 * c.depth + 39] = NAN;
  t.x[2 * c.depth + 3] = INFINITY;
  t.x[3 * c.depth + 1] = -INFINITY;
  expect(&c, &t);
  assert_true(isnan(t.y[0]) && isfinite(t.y[c.columns]) && isnan(t.y[2 * c.columns]));
  define(&test, &c, &t);
  op_test_run(&test, "int8 linear of rows that are not finite");
  op_test_end(&test);
  release(&t);
}

static void test_same_bits_for_any_threads(void **state) {
  (void)state;
  static const int8_case c = {
      262, 200, 150, .bias = true, .residual = true, .activation = HEED_ACTIVATION_GELU};
  run_case(&c, 5, true);
}

#if defined(__SSE__)
/* A program may have told the processor to take floats near 0 for 0; one level adds whole numbers
 * as such floats. */
static void test_flushed_floats(void **state) {
  (void)state;
  const uint32_t before = _mm_getcsr(), flushes = before | 0x8040u;
  const int8_case c = {43, 600, 48, .bias = true};
  tensors t;
  op_test test;
  make(&c, 13, &t);
  expect(&c, &t);
  define(&test, &c, &t);
  _mm_setcsr(flushes);
  op_test_run(&test, "int8 linear where small floats are flushed");
  assert_int_equal(_mm_getcsr() & 0x8040u, 0x8040u);
  _mm_setcsr(before);
  op_test_end(&test);
  release(&t);
}
#endif

/* Any other op takes the constant as its floats. */
static void test_as_floats(void **state) {
  (void)state;
  enum { N = 6, K = 11 };
  const int8_case c = {1, K, N};
  tensors t;
  op_test test;
  make(&c, 3, &t);
  double y[N * K];
  float x[N * K];
  for (size_t i = 0; i < N * K; i++) {
    x[i] = (float)i;
    y[i] = (double)((float)t.weight[i] * t.scale[i / K] + x[i]);
  }
  op_test_begin(&test);
  test.tolerance = 0.0;
  const heed_add_desc desc = {sizeof desc, op_test_input(&test, HEED_F32, HEED_SHAPE(N, K), x),
                              define_weight(&test, &c, &t)};
  op_test_expect(&test, heed_define_add(test.graph, &desc), y);
  op_test_run(&test, "int8 constant as floats");
  op_test_end(&test);
  release(&t);
}

static void refuse(const float *scale, const int8_t *data, heed_shape shape, const char *needle) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_quantised_desc desc = {
      .struct_size = sizeof desc, .shape = shape, .scale = scale, .data = data};
  assert_int_equal(heed_define_quantised(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, needle);
  op_test_end(&test);
}

static void test_refusals(void **state) {
  (void)state;
  static const int8_t data[4] = {1, 2, 3, 4};
  const float odd[2] = {1.0f, NAN}, large[2] = {INFINITY, 1.0f}, good[2] = {1.0f, 1.0f};
  refuse(odd, data, HEED_SHAPE(2, 2), "row 1");
  refuse(large, data, HEED_SHAPE(2, 2), "row 0");
  refuse(NULL, data, HEED_SHAPE(2, 2), "scales");
  refuse(good, NULL, HEED_SHAPE(2, 2), "data or read");
  refuse(good, data, HEED_SHAPE(0, 2), "at least one element");
}

static heed_status fail_read(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  (void)user, (void)first, (void)count, (void)to;
  snprintf(error->message, sizeof error->message, "the disk is gone");
  error->status = HEED_IO;
  return HEED_IO;
}

/* What the reader says is what the session's creation says. */
static void test_failed_read(void **state) {
  (void)state;
  const float scale[3] = {1.0f, 1.0f, 1.0f};
  heed_error error = {HEED_OK, ""};
  heed_plan *plan;
  heed_session *session;
  op_test test;
  op_test_begin(&test);
  const heed_quantised_desc weight = {
      .struct_size = sizeof weight, .shape = HEED_SHAPE(3, 8), .scale = scale, .read = fail_read};
  const heed_shape shape = HEED_SHAPE(2, 8);
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_define_input(test.graph, "x", HEED_F32, &shape),
                                 .weight = heed_define_quantised(test.graph, &weight)};
  heed_graph_output(test.graph, heed_define_linear(test.graph, &desc));
  for (uint32_t b = 0; b < test_backend_count(); b++) {
    assert_ok(heed_plan_create(test.graph, test_backend_get(b), NULL, &plan, &error));
    assert_fails(heed_session_create(plan, NULL, &session, &error), HEED_IO, "the disk is gone");
    heed_plan_destroy(plan);
  }
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sizes),
    cmocka_unit_test(test_extremes),
    cmocka_unit_test(test_longest),
    cmocka_unit_test(test_too_long),
    cmocka_unit_test(test_epilogues),
    cmocka_unit_test(test_not_finite),
    cmocka_unit_test(test_same_bits_for_any_threads),
#if defined(__SSE__)
    cmocka_unit_test(test_flushed_floats),
#endif
    cmocka_unit_test(test_as_floats),
    cmocka_unit_test(test_refusals),
    cmocka_unit_test(test_failed_read),
  };
  return cmocka_run_group_tests_name("linear_int8", tests, NULL, test_backend_close_all);
}
