/* rotary against the published form in double: y = x cos + rot(x) sin with an angle for each
 * element. Pairs around every vector, both layouts, tables of all heads and of each head, tokens in
 * front and elements behind that are copied. HEED_SWEEP_SEED=S in the environment runs the random
 * case of seed S alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct rotary_case {
  uint32_t batch, heads, tokens, depth, pairs, first;
  bool interleaved, each; /* each: a table a head */
  uint64_t seed;
} rotary_case;

typedef struct tables {
  heed_shape shape;
  float *cosines, *sines;
} tables;

/* Of random angles. */
static tables make_tables(const rotary_case *c, test_random *random) {
  const uint32_t rows = c->tokens - c->first;
  tables t = {.shape = c->each ? HEED_SHAPE(c->heads, rows, c->pairs) : HEED_SHAPE(rows, c->pairs)};
  const size_t count = (size_t)heed_shape_count(&t.shape);
  t.cosines = op_test_random(random, count, 2.0f);
  t.sines = op_test_zeros(count);
  for (size_t i = 0; i < count; i++) {
    const double angle = (double)t.cosines[i];
    t.cosines[i] = (float)cos(angle);
    t.sines[i] = (float)sin(angle);
  }
  return t;
}

static void free_tables(tables *t) {
  free(t->cosines);
  free(t->sines);
}

/* One token: the tables of its pairs are spread over its elements, by the layout. */
static void rotate_token(const rotary_case *c, const float *x, const float *cosines,
                         const float *sines, double *y) {
  const uint32_t pairs = c->pairs;
  for (uint32_t d = 0; d < c->depth; d++) {
    const bool low = c->interleaved ? d % 2 == 0 : d < pairs;
    const uint32_t other = c->interleaved ? d ^ 1u
                           : low          ? d + pairs
                                          : d - pairs,
                   angle = c->interleaved ? d / 2 : d % pairs;
    y[d] = (double)x[d];
    if (d >= 2 * pairs) continue;
    const double rot = low ? -(double)x[other] : (double)x[other];
    y[d] = (double)x[d] * (double)cosines[angle] + rot * (double)sines[angle];
  }
}

static void rotate(const rotary_case *c, const float *x, const tables *t, double *y) {
  const uint32_t rows = c->tokens - c->first;
  for (uint32_t b = 0; b < c->batch; b++)
    for (uint32_t h = 0; h < c->heads; h++)
      for (uint32_t token = 0; token < c->tokens; token++) {
        const size_t at = (((size_t)b * c->heads + h) * c->tokens + token) * c->depth;
        const size_t row = (c->each ? (size_t)h * rows : 0) + token - c->first;
        if (token < c->first)
          for (uint32_t d = 0; d < c->depth; d++) y[at + d] = (double)x[at + d];
        else
          rotate_token(c, x + at, t->cosines + row * c->pairs, t->sines + row * c->pairs, y + at);
      }
}

static heed_value define(op_test *test, heed_value x, const tables *t, uint32_t first,
                         bool interleaved) {
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .cos = op_test_constant(test, HEED_F32, t->shape, t->cosines),
                                 .sin = op_test_constant(test, HEED_F32, t->shape, t->sines),
                                 .first = first,
                                 .interleaved = interleaved};
  return heed_define_rotary(test->graph, &desc);
}

/* spoil: elements that are not finite, where they are copied, rotated and alone. */
static void run(const rotary_case *c, bool spoil) {
  char what[200];
  test_random random = {c->seed};
  op_test test;
  const heed_shape shape = HEED_SHAPE(c->batch, c->heads, c->tokens, c->depth);
  const size_t count = (size_t)heed_shape_count(&shape);
  tables t = make_tables(c, &random);
  float *x = op_test_random(&random, count, 1.0f);
  double *y = op_test_doubles(count);
  for (size_t i = 0; spoil && i < count; i += 13) x[i] = i % 2 ? NAN : INFINITY;
  rotate(c, x, &t, y);
  snprintf(what, sizeof what, "rotary [%u, %u, %u, %u], %u pairs%s, first %u, %s, seed %llu",
           c->batch, c->heads, c->tokens, c->depth, c->pairs, c->each ? " a head" : "", c->first,
           c->interleaved ? "interleaved" : "halves", (unsigned long long)c->seed);
  op_test_begin(&test);
  test.tolerance = 3e-7;
  op_test_expect(
      &test, define(&test, op_test_input(&test, HEED_F32, shape, x), &t, c->first, c->interleaved),
      y);
  op_test_run(&test, what);
  op_test_end(&test);
  free_tables(&t);
  free(x);
  free(y);
}

/* Pairs of one to a few vectors of each level, with and without elements behind. */
static void test_pairs(void **state) {
  (void)state;
  static const uint32_t pairs[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64};
  for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (uint32_t k = 0; k < 4; k++) {
      const uint32_t rest = k / 2 ? 1 + i % 5 : 0;
      run(&(rotary_case){2, 3, 7, 2 * pairs[i] + rest, pairs[i], i % 3, k % 2 == 1, i % 2 == 1,
                         10 + 4 * i + k},
          false);
    }
}

/* As models have them: DINOv3 at 224, EVA-02, a table a head with as many heads as pictures, one
 * token behind those in front. */
static void test_models(void **state) {
  (void)state;
  run(&(rotary_case){2, 6, 201, 64, 32, 5, false, false, 1}, false);
  run(&(rotary_case){1, 3, 257, 64, 32, 1, true, false, 2}, false);
  run(&(rotary_case){3, 3, 197, 64, 32, 1, true, true, 3}, false);
  run(&(rotary_case){1, 2, 6, 80, 16, 5, false, true, 4}, false);
  run(&(rotary_case){1, 1, 1, 2, 1, 0, false, false, 5}, false);
}

/* What is not finite stays in its pair. */
static void test_not_finite(void **state) {
  (void)state;
  run(&(rotary_case){2, 3, 5, 20, 8, 2, false, false, 6}, true);
  run(&(rotary_case){2, 3, 5, 20, 8, 2, true, true, 7}, true);
}

static void test_sweep(void **state) {
  (void)state;
  const char *chosen = getenv("HEED_SWEEP_SEED");
  const uint64_t first = chosen ? strtoull(chosen, NULL, 10) : 100,
                 count = chosen ? 1 : op_test_share(100);
  for (uint64_t seed = first; seed < first + count; seed++) {
    test_random random = {seed};
    rotary_case c = {.seed = seed};
    c.batch = 1 + test_random_below(&random, 3);
    c.heads = 1 + test_random_below(&random, 4);
    c.tokens = 1 + test_random_below(&random, 40);
    c.depth = 2 + test_random_below(&random, 70);
    c.pairs = 1 + test_random_below(&random, c.depth / 2);
    c.first = test_random_below(&random, c.tokens);
    c.interleaved = test_random_below(&random, 2);
    c.each = test_random_below(&random, 2);
    run(&c, false);
  }
}

/* ------------------------------------------------------------------------- same bits */

/* [.., a, b] -> [.., b, a] of the elements of each token. */
static heed_value turn(op_test *test, heed_value x, const rotary_case *c, uint32_t a, uint32_t b) {
  const heed_shape whole = HEED_SHAPE(c->batch, c->heads, c->tokens, c->depth),
                   split = HEED_SHAPE(c->batch, c->heads, c->tokens, a, b);
  const heed_permute_desc desc = {
      sizeof desc, heed_define_reshape(test->graph, x, &split), {0, 1, 2, 4, 3}};
  return heed_define_reshape(test->graph, heed_define_permute(test->graph, &desc), &whole);
}

static void compare_bits(op_test *test, heed_backend *backend, const char *name, size_t count) {
  heed_error error = {HEED_OK, ""};
  heed_plan *plan;
  heed_session *session;
  float *y[2] = {op_test_zeros(count), op_test_zeros(count)};
  assert_ok(heed_plan_create(test->graph, backend, NULL, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, test->inputs[0].value, test->inputs[0].data,
                               test->inputs[0].bytes, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  for (int i = 0; i < 2; i++)
    assert_ok(heed_session_read(session, test->results[i].value, 0, count, y[i], &error));
  for (size_t i = 0; i < count; i++)
    if (memcmp(&y[0][i], &y[1][i], sizeof(float)) != 0)
      fail_msg("layouts: element %zu: interleaved %.9g, halves %.9g, on %s", i, (double)y[0][i],
               (double)y[1][i], name);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  free(y[0]);
  free(y[1]);
}

/* Interleaved pairs are halves of permuted elements: the same bits on each backend. */
static void test_layouts(void **state) {
  (void)state;
  static const uint32_t pairs[] = {1, 3, 16, 21};
  for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const rotary_case c = {2, 2, 9, 2 * pairs[i], pairs[i], 1, false, false, 0};
    const heed_shape shape = HEED_SHAPE(c.batch, c.heads, c.tokens, c.depth);
    const size_t count = (size_t)heed_shape_count(&shape);
    test_random random = {300 + i};
    tables t = make_tables(&c, &random);
    float *x = op_test_random(&random, count, 1.0f);
    op_test test;
    op_test_begin(&test);
    const heed_value input = op_test_input(&test, HEED_F32, shape, x);
    const heed_value halves = define(&test, turn(&test, input, &c, c.pairs, 2), &t, c.first, false);
    op_test_expect(&test, define(&test, input, &t, c.first, true), NULL);
    op_test_expect(&test, turn(&test, halves, &c, 2, c.pairs), NULL);
    for (uint32_t b = 0; b < test_backend_count(); b++)
      compare_bits(&test, test_backend_get(b), test_backend_name(b), count);
    op_test_end(&test);
    free_tables(&t);
    free(x);
  }
}

static void test_threads(void **state) {
  (void)state;
  const rotary_case c = {3, 5, 130, 24, 12, 1, true, true, 400};
  const heed_shape shape = HEED_SHAPE(c.batch, c.heads, c.tokens, c.depth);
  test_random random = {c.seed};
  tables t = make_tables(&c, &random);
  float *x = op_test_random(&random, (size_t)heed_shape_count(&shape), 1.0f);
  op_test test;
  op_test_begin(&test);
  op_test_expect(&test, define(&test, op_test_input(&test, HEED_F32, shape, x), &t, c.first, true),
                 NULL);
  op_test_same_bits(&test, "rotary");
  op_test_end(&test);
  free_tables(&t);
  free(x);
}

/* ------------------------------------------------------------------------- between products */

enum { TOKENS = 5, HEADS = 2, DEPTH = 8, WIDTH = 6, OUT = 3 };

/* Steps of 1/64, which fp16 holds. */
static float *make_steps(test_random *random, size_t count) {
  float *values = op_test_zeros(count);
  for (size_t i = 0; i < count; i++)
    values[i] = (float)((int)test_random_below(random, 65) - 32) / 64.0f;
  return values;
}

/* [rows, depth] by [columns, depth]; `heads` heads of the columns become the first axis. */
static double *multiply(const double *x, const float *weight, uint32_t rows, uint32_t depth,
                        uint32_t columns, uint32_t heads) {
  double *y = op_test_doubles((size_t)rows * columns);
  const uint32_t size = columns / heads;
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t n = 0; n < columns; n++)
      for (uint32_t k = 0; k < depth; k++)
        y[((size_t)(n / size) * rows + r) * size + n % size] +=
            x[r * depth + k] * (double)weight[n * depth + k];
  return y;
}

static heed_value linear(op_test *test, heed_value x, const float *weight, uint32_t columns,
                         uint32_t depth, uint32_t heads) {
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = x,
      .weight = op_test_constant(test, HEED_F32, HEED_SHAPE(columns, depth), weight),
      .heads = heads};
  return heed_define_linear(test->graph, &desc);
}

/* A stacked query and key, rotated by one node, and a product after it: with weights in fp16 what
 * passes between them is fp16 too. */
static void between(bool interleaved) {
  const rotary_case c = {1, 2 * HEADS, TOKENS, DEPTH, 3, 1, interleaved, false, 500};
  const uint32_t columns = 2 * HEADS * DEPTH;
  test_random random = {c.seed};
  tables t = make_tables(&c, &random);
  float *x = make_steps(&random, TOKENS * WIDTH), *before = make_steps(&random, columns * WIDTH),
        *after = make_steps(&random, OUT * DEPTH), middle[2 * HEADS * TOKENS * DEPTH];
  double from[TOKENS * WIDTH], turned[2 * HEADS * TOKENS * DEPTH];
  for (int i = 0; i < TOKENS * WIDTH; i++) from[i] = (double)x[i];
  double *projected = multiply(from, before, TOKENS, WIDTH, columns, 2 * HEADS);
  for (int i = 0; i < 2 * HEADS * TOKENS * DEPTH; i++) middle[i] = (float)projected[i];
  rotate(&c, middle, &t, turned);
  double *y = multiply(turned, after, 2 * HEADS * TOKENS, DEPTH, OUT, 1);
  op_test test;
  op_test_begin(&test);
  const heed_shape heads = HEED_SHAPE(2, HEADS, TOKENS, DEPTH);
  const heed_value stacked =
      linear(&test, op_test_input(&test, HEED_F32, HEED_SHAPE(1, TOKENS, WIDTH), x), before,
             columns, WIDTH, 2 * HEADS);
  const heed_value view = heed_define_view(test.graph, stacked, 0, &heads);
  op_test_expect(
      &test, linear(&test, define(&test, view, &t, c.first, interleaved), after, OUT, DEPTH, 0), y);
  op_test_run(&test, interleaved ? "rotary between products, interleaved"
                                 : "rotary between products, halves");
  op_test_end(&test);
  free_tables(&t);
  free(x);
  free(before);
  free(after);
  free(projected);
  free(y);
}

static void test_between_products(void **state) {
  (void)state;
  between(false);
  between(true);
}

/* ------------------------------------------------------------------------- wrong descs */

static void wrong(heed_shape x, heed_shape cosines, heed_shape sines, uint32_t first,
                  const char *sentence) {
  static const float zeros[64];
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_rotary_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_define_input(test.graph, "x", HEED_F32, &x),
      .cos = op_test_constant(&test, HEED_F32, cosines, zeros),
      .sin = sines.rank ? op_test_constant(&test, HEED_F32, sines, zeros) : (heed_value){0},
      .first = first};
  assert_int_equal(heed_define_rotary(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  const heed_shape x = HEED_SHAPE(1, 2, 5, 8), table = HEED_SHAPE(4, 4), none = {0};
  wrong(HEED_SHAPE(2, 5, 8), table, table, 1, "rotary: x: wrong number of axes (found [2, 5, 8]");
  wrong(x, table, table, 5, "rotary: first out of range (found 5, expected less than 5)");
  wrong(x, table, table, UINT32_MAX, "rotary: first out of range (found 4294967295");
  wrong(x, HEED_SHAPE(4, 5), table, 1,
        "rotary: cos exceeds the head size (found 5 pairs, expected at most 4)");
  wrong(HEED_SHAPE(1, 2, 5, 1), HEED_SHAPE(4, 1), table, 1, "expected at most 0");
  wrong(x, table, table, 0, "rotary: cos: wrong shape (found [4, 4], expected [5, 4])");
  wrong(x, HEED_SHAPE(4), table, 1, "rotary: cos: wrong shape (found [4], expected [4, 4])");
  wrong(x, HEED_SHAPE(3, 4, 4), table, 1,
        "rotary: cos: wrong shape (found [3, 4, 4], expected [2, 4, 4])");
  wrong(x, table, HEED_SHAPE(2, 4, 4), 1,
        "rotary: sin: wrong shape (found [2, 4, 4], expected [4, 4])");
  wrong(x, table, HEED_SHAPE(4, 3), 1, "rotary: sin: wrong shape (found [4, 3], expected [4, 4])");
  wrong(x, table, none, 1, "rotary: sin: unknown value (found id 0");
}

/* Tables are known before a run. */
static void test_computed_table(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_shape x = HEED_SHAPE(1, 2, 5, 8), table = HEED_SHAPE(5, 4);
  const heed_value angles = heed_define_input(test.graph, "angles", HEED_F32, &table);
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_define_input(test.graph, "x", HEED_F32, &x),
                                 .cos = angles,
                                 .sin = angles};
  heed_define_rotary(test.graph, &desc);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "rotary: cos: not a constant");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_models),
                                     cmocka_unit_test(test_not_finite),
                                     cmocka_unit_test(test_sweep),
                                     cmocka_unit_test(test_layouts),
                                     cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_between_products),
                                     cmocka_unit_test(test_wrong),
                                     cmocka_unit_test(test_computed_table)};
  return cmocka_run_group_tests_name("rotary", tests, NULL, test_backend_close_all);
}
