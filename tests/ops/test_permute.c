/* permute against index arithmetic: every rank, orders that merge and orders that do not, both
 * dtypes. Exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

/* The element of x that is y's element `index`. */
static size_t source_of(const heed_shape *x, const uint32_t *order, size_t index) {
  size_t strides[HEED_MAX_RANK], step = 1, from = 0;
  for (uint32_t i = x->rank; i-- > 0; step *= x->dim[i]) strides[i] = step;
  for (uint32_t i = x->rank; i-- > 0; index /= x->dim[order[i]])
    from += index % x->dim[order[i]] * strides[order[i]];
  return from;
}

static void run(heed_shape shape, const uint32_t *order, uint64_t seed) {
  char what[160];
  char digits[HEED_MAX_RANK + 1] = "", text[HEED_SHAPE_TEXT_SIZE];
  test_random random = {seed};
  op_test test;
  const size_t count = (size_t)heed_shape_count(&shape);
  float *x = op_test_random(&random, count, 1.0f);
  double *y = op_test_doubles(count);
  heed_permute_desc desc = {.struct_size = sizeof desc};
  for (uint32_t i = 0; i < shape.rank; i++) {
    desc.order[i] = order[i];
    digits[i] = (char)('0' + order[i]);
  }
  for (size_t i = 0; i < count; i++) y[i] = (double)x[source_of(&shape, order, i)];
  snprintf(what, sizeof what, "permute %s to %s, seed %llu", heed_shape_text(&shape, text), digits,
           (unsigned long long)seed);
  op_test_begin(&test);
  test.tolerance = 0.0;
  desc.x = op_test_input(&test, HEED_F32, shape, x);
  op_test_expect(&test, heed_define_permute(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(y);
}

static void test_heads(void **state) {
  (void)state;
  run(HEED_SHAPE(2, 197, 3, 64), (const uint32_t[]){0, 2, 1, 3}, 1);
  run(HEED_SHAPE(2, 3, 197, 64), (const uint32_t[]){0, 2, 1, 3}, 2);
  run(HEED_SHAPE(1, 5, 1, 7), (const uint32_t[]){0, 2, 1, 3}, 3);
}

static void test_large(void **state) {
  (void)state;
  run(HEED_SHAPE(300, 257), (const uint32_t[]){1, 0}, 4);
  run(HEED_SHAPE(3, 64, 1021), (const uint32_t[]){0, 2, 1}, 5);
  run(HEED_SHAPE(40000), (const uint32_t[]){0}, 6);
}

/* Random ranks, sizes and orders. */
static void test_sweep(void **state) {
  (void)state;
  for (uint64_t seed = 100; seed < 220; seed++) {
    test_random random = {seed};
    heed_shape shape = {.rank = 1 + test_random_below(&random, HEED_MAX_RANK)};
    uint32_t order[HEED_MAX_RANK];
    for (uint32_t i = 0; i < shape.rank; i++) {
      shape.dim[i] = 1 + test_random_below(&random, 5);
      order[i] = i;
    }
    for (uint32_t i = shape.rank; i-- > 1;) {
      const uint32_t j = test_random_below(&random, i + 1), swap = order[i];
      order[i] = order[j];
      order[j] = swap;
    }
    run(shape, order, seed);
  }
}

/* Splitting heads is a reshape and a permute; the reshape alone puts other numbers there. */
static void test_split_heads(void **state) {
  (void)state;
  enum { TOKENS = 3, HEADS = 2, DEPTH = 2 };
  float x[TOKENS * HEADS * DEPTH];
  double heads[TOKENS * HEADS * DEPTH], wrong[TOKENS * HEADS * DEPTH];
  for (int t = 0; t < TOKENS; t++)
    for (int h = 0; h < HEADS; h++)
      for (int d = 0; d < DEPTH; d++) {
        x[(t * HEADS + h) * DEPTH + d] = (float)(100 * t + 10 * h + d);
        heads[(h * TOKENS + t) * DEPTH + d] = 100 * t + 10 * h + d;
      }
  for (int i = 0; i < TOKENS * HEADS * DEPTH; i++) wrong[i] = (double)x[i];
  assert_memory_not_equal(heads, wrong, sizeof heads);
  op_test test;
  op_test_begin(&test);
  test.tolerance = 0.0;
  const heed_shape split = HEED_SHAPE(1, TOKENS, HEADS, DEPTH),
                   reshaped = HEED_SHAPE(1, HEADS, TOKENS, DEPTH);
  const heed_value tokens = op_test_input(&test, HEED_F32, HEED_SHAPE(1, TOKENS, HEADS * DEPTH), x);
  const heed_permute_desc desc = {
      sizeof desc, heed_define_reshape(test.graph, tokens, &split), {0, 2, 1, 3}};
  op_test_expect(&test, heed_define_permute(test.graph, &desc), heads);
  op_test_expect(&test, heed_define_reshape(test.graph, tokens, &reshaped), wrong);
  op_test_run(&test, "split heads");
  op_test_end(&test);
}

static void wrong_order(heed_shape shape, heed_dtype dtype, const uint32_t order[HEED_MAX_RANK],
                        const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  heed_permute_desc desc = {sizeof desc, heed_define_input(test.graph, "x", dtype, &shape), {0}};
  memcpy(desc.order, order, sizeof desc.order);
  assert_int_equal(heed_define_permute(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  wrong_order(HEED_SHAPE(2, 3), HEED_F32, (const uint32_t[HEED_MAX_RANK]){0, 0},
              "found axis 0 at index 1");
  wrong_order(HEED_SHAPE(2, 3), HEED_F32, (const uint32_t[HEED_MAX_RANK]){0, 2},
              "found axis 2 at index 1");
  wrong_order(HEED_SHAPE(2, 3), HEED_U8, (const uint32_t[HEED_MAX_RANK]){1, 0}, "wrong dtype");
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  const heed_shape shape = HEED_SHAPE(2, 3), other = HEED_SHAPE(7);
  assert_int_equal(
      heed_define_reshape(test.graph, heed_define_input(test.graph, "x", HEED_F32, &shape), &other)
          .id,
      0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "reshape: wrong number of elements (found [7]");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads), cmocka_unit_test(test_large), cmocka_unit_test(test_sweep),
      cmocka_unit_test(test_split_heads), cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("permute", tests, NULL, test_backend_close_all);
}
