/* linear and patch_embedding on the level that multiplies in bf16: against the product of rounded
 * factors in double, against the product itself, and to the bit for any number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

#define LEVEL "avx512bf16"

typedef struct bf16_case {
  uint32_t rows, depth, columns;
  bool bias, residual;
  uint32_t heads, parts;
} bf16_case;

typedef struct tensors {
  float *x, *weight, *bias, *residual;
} tensors;

/* The backend with so many threads; the test is skipped where this CPU lacks the instructions, so
 * each test asks before it allocates: skip() does not return. */
static heed_backend *open_level(uint32_t threads) {
  heed_error error = {HEED_OK, ""};
  heed_backend *backend = NULL;
  const heed_cpu_desc desc = {sizeof desc, threads, LEVEL};
  if (heed_cpu_backend_create(test_backend_context(), &desc, &backend, &error) ==
      HEED_UNSUPPORTED) {
    print_message("bf16: %s\n", error.message);
    skip();
  }
  assert_non_null(backend);
  return backend;
}

static void need_level(void) { heed_backend_destroy(open_level(1)); }

static void run_on(const op_test *test, uint32_t threads, float *y) {
  heed_error error = {HEED_OK, ""};
  heed_backend *backend = open_level(threads);
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  assert_ok(heed_plan_create(test->graph, backend, NULL, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  for (uint32_t i = 0; i < test->input_count; i++)
    assert_ok(heed_session_write(session, test->inputs[i].value, test->inputs[i].data,
                                 test->inputs[i].bytes, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(
      heed_session_read(session, test->results[0].value, 0, test->results[0].count, y, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_backend_destroy(backend);
}

/* The results with one thread, after those of more threads were found to be the same bits: of three
 * where there are few results, of others too where there are many. */
static float *run_all(const op_test *test, const char *what) {
  static const uint32_t threads[] = {3, 2, 7};
  const size_t count = test->results[0].count;
  float *one = op_test_zeros(count), *more = op_test_zeros(count);
  run_on(test, 1, one);
  for (size_t t = 0; t < (count > 2000 ? 3 : 1); t++) {
    run_on(test, threads[t], more);
    if (memcmp(one, more, count * sizeof *one) != 0)
      fail_msg("%s: other bits with %u threads than with 1", what, threads[t]);
  }
  free(more);
  return one;
}

/* A sum of products. Rounding to bf16 moves a factor by 2^-8 of it at
 * most, so a product by 2^-7 + 2^-16. Each of 2 roundings a number moves a sum of floats by 2^-24
 * of what was added up. */
typedef struct expected {
  double rounded, exact, size;
} expected;

static double round_bf16(float x) { return (double)heed_bf16_to_f32(heed_f32_to_bf16(x)); }

static void add_product(expected *e, float x, float w) {
  e->rounded += round_bf16(x) * round_bf16(w);
  e->exact += (double)x * (double)w;
  e->size += fabs((double)x * (double)w);
}

static void check(expected e, size_t depth, double added, float found, const char *what, size_t i) {
  const double sum = (2.0 * (double)depth + 4.0) * 0x1p-24 * (1.02 * e.size + fabs(added)),
               factors = (0x1p-7 + 0x1p-16) * e.size;
  if (!(fabs((double)found - e.rounded - added) <= sum))
    fail_msg("%s: element %zu: found %.9g, expected %.9g within %.3g", what, i, (double)found,
             e.rounded + added, sum);
  if (!(fabs((double)found - e.exact - added) <= sum + factors))
    fail_msg("%s: element %zu: found %.9g, expected %.9g within %.3g (factors not rounded)", what,
             i, (double)found, e.exact + added, sum + factors);
}

static void make(const bf16_case *c, uint64_t seed, tensors *t) {
  test_random random = {seed};
  t->x = op_test_random(&random, (size_t)c->rows * c->depth, 1.0f);
  t->weight = op_test_random(&random, (size_t)c->columns * c->depth, 0.3f);
  t->bias = op_test_random(&random, c->columns, 1.0f);
  t->residual = op_test_random(&random, (size_t)c->rows * c->columns, 1.0f);
}

static void release(tensors *t) {
  free(t->x);
  free(t->weight);
  free(t->bias);
  free(t->residual);
}

static void define(op_test *test, const bf16_case *c, const tensors *t) {
  heed_linear_desc desc = {.struct_size = sizeof desc, .heads = c->heads, .parts = c->parts};
  op_test_begin(test);
  desc.x = op_test_input(test, HEED_F32, HEED_SHAPE(1, c->rows, c->depth), t->x);
  desc.weight = op_test_constant(test, HEED_F32, HEED_SHAPE(c->columns, c->depth), t->weight);
  if (c->bias) desc.bias = op_test_constant(test, HEED_F32, HEED_SHAPE(c->columns), t->bias);
  if (c->residual)
    desc.residual = op_test_input(test, HEED_F32, HEED_SHAPE(1, c->rows, c->columns), t->residual);
  op_test_expect(test, heed_define_linear(test->graph, &desc), NULL);
}

static void run_case(const bf16_case *c, uint64_t seed) {
  char what[160];
  tensors t;
  op_test test;
  snprintf(what, sizeof what, "bf16 linear %u x %u x %u, bias %d, residual %d, heads %u, parts %u",
           c->rows, c->depth, c->columns, c->bias, c->residual, c->heads, c->parts);
  make(c, seed, &t);
  define(&test, c, &t);
  float *y = run_all(&test, what);
  for (size_t row = 0; row < c->rows; row++)
    for (size_t n = 0; n < c->columns; n++) {
      const size_t width = c->heads ? c->columns / (c->parts * c->heads) : c->columns,
                   at = (n / width * c->rows + row) * width + n % width;
      expected e = {0, 0, 0};
      for (size_t k = 0; k < c->depth; k++)
        add_product(&e, t.x[row * c->depth + k], t.weight[n * c->depth + k]);
      const double added = (c->bias ? (double)t.bias[n] : 0.0) +
                           (c->residual ? (double)t.residual[row * c->columns + n] : 0.0);
      check(e, c->depth, added, y[at], what, at);
    }
  free(y);
  op_test_end(&test);
  release(&t);
}

/* Around the tile, 12 rows by 32 columns by pairs, and around a vector of pairs. */
static void test_sizes(void **state) {
  (void)state;
  need_level();
  static const uint32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 23, 24, 25},
                        depths[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 131},
                        columns[] = {1, 3, 15, 16, 17, 31, 32, 33, 65};
  uint64_t seed = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t j = 0; j < sizeof depths / sizeof *depths; j++, seed++)
      run_case(&(bf16_case){rows[i], depths[j], columns[seed % (sizeof columns / sizeof *columns)],
                            .bias = seed % 2, .residual = seed % 3 == 0},
               seed);
}

/* Several groups of rows, a long depth, results by heads. */
static void test_shapes(void **state) {
  (void)state;
  need_level();
  static const bf16_case cases[] = {
      {257, 13, 40, .bias = true},          {1100, 40, 35, .residual = true},
      {29, 3072, 33, .bias = true},         {197, 64, 192, .bias = true, .heads = 1, .parts = 3},
      {13, 20, 72, .heads = 3, .parts = 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], 500 + i);
}

/* Halves between two numbers of bf16 go to the even one, in rows and in weights. */
static void test_nearest_even(void **state) {
  (void)state;
  need_level();
  static const float x[] = {1.0f + 0x1p-8f, 1.0f + 0x3p-8f, 1.0f + 0x1p-8f + 0x1p-20f,
                            -1.0f - 0x3p-8f},
                     y[] = {1.0f, 1.0f + 0x1p-6f, 1.0f + 0x1p-7f, -1.0f - 0x1p-6f}, one = 1.0f;
  op_test test;
  for (int swapped = 0; swapped < 2; swapped++) {
    float found[4];
    heed_linear_desc desc = {.struct_size = sizeof desc};
    op_test_begin(&test);
    desc.x = op_test_input(&test, HEED_F32, HEED_SHAPE(1, swapped ? 1 : 4, 1), swapped ? &one : x);
    desc.weight =
        op_test_constant(&test, HEED_F32, HEED_SHAPE(swapped ? 4 : 1, 1), swapped ? x : &one);
    op_test_expect(&test, heed_define_linear(test.graph, &desc), NULL);
    run_on(&test, 1, found);
    assert_memory_equal(found, y, sizeof y);
    op_test_end(&test);
  }
}

/* A NaN or an infinity reaches its own row alone. */
static void test_not_finite(void **state) {
  (void)state;
  need_level();
  const bf16_case c = {14, 35, 33, .bias = true};
  tensors t;
  op_test test;
  make(&c, 9, &t);
  t.x[3 * c.depth + 34] = NAN;
  t.x[12 * c.depth] = INFINITY;
  define(&test, &c, &t);
  float *y = run_all(&test, "bf16 linear with a NaN");
  for (size_t i = 0; i < (size_t)c.rows * c.columns; i++) {
    const size_t row = i / c.columns;
    assert_true(row == 3 ? isnan(y[i]) : row == 12 ? isinf(y[i]) : isfinite(y[i]));
  }
  free(y);
  op_test_end(&test);
  release(&t);
}

/* Pictures [2, 3, 40, 27], patches of 5: 80 patches, more than a task's 36, of 75 numbers. */
static void test_patches(void **state) {
  (void)state;
  need_level();
  enum {
    B = 2,
    CH = 3,
    H = 40,
    W = 27,
    P = 5,
    N = 37,
    DOWN = H / P,
    ACROSS = W / P,
    K = CH * P * P
  };
  test_random random = {31};
  float *image = op_test_random(&random, B * CH * H * W, 1.0f),
        *weight = op_test_random(&random, N * K, 0.2f), *bias = op_test_random(&random, N, 1.0f);
  op_test test;
  heed_patch_embedding_desc desc = {.struct_size = sizeof desc};
  op_test_begin(&test);
  desc.image = op_test_input(&test, HEED_F32, HEED_SHAPE(B, CH, H, W), image);
  desc.weight = op_test_constant(&test, HEED_F32, HEED_SHAPE(N, CH, P, P), weight);
  desc.bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(N), bias);
  op_test_expect(&test, heed_define_patch_embedding(test.graph, &desc), NULL);
  float *y = run_all(&test, "bf16 patch_embedding");
  for (size_t i = 0; i < B * DOWN * ACROSS * N; i++) {
    const size_t n = i % N, p = i / N % (DOWN * ACROSS), b = i / N / (DOWN * ACROSS);
    expected e = {0, 0, 0};
    for (size_t k = 0; k < K; k++) {
      const size_t c = k / (P * P), down = p / ACROSS * P + k / P % P,
                   across = p % ACROSS * P + k % P;
      add_product(&e, image[((b * CH + c) * H + down) * W + across], weight[n * K + k]);
    }
    check(e, K, (double)bias[n], y[i], "bf16 patch_embedding", i);
  }
  free(y);
  free(image);
  free(weight);
  free(bias);
  op_test_end(&test);
}

/* Nobody gets it without its name. */
static void test_never_chosen(void **state) {
  (void)state;
  for (uint32_t i = 0; heed_cpu_level(i); i++) assert_string_not_equal(heed_cpu_level(i), LEVEL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),        cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_nearest_even), cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_patches),      cmocka_unit_test(test_never_chosen),
  };
  return cmocka_run_group_tests_name("bf16", tests, NULL, test_backend_close_all);
}
