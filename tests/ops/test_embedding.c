/* embedding: rows of a table by id; ids outside the table give zeros. Exact. */
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

static void run(uint32_t batch, uint32_t tokens, uint32_t rows, uint32_t width, uint64_t seed) {
  char what[120];
  test_random random = {seed};
  op_test test;
  const size_t count = (size_t)batch * tokens;
  float *table = op_test_random(&random, (size_t)rows * width, 1.0f);
  int32_t *ids = malloc(count * sizeof *ids);
  assert_non_null(ids);
  double *y = op_test_doubles(count * width);
  static const int32_t outside[] = {-1, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < count; i++) {
    const uint32_t kind = test_random_below(&random, 8);
    ids[i] = kind < 3    ? outside[kind]
             : kind == 3 ? (int32_t)rows
                         : (int32_t)test_random_below(&random, rows);
    for (size_t c = 0; kind > 3 && c < width; c++)
      y[i * width + c] = (double)table[(size_t)ids[i] * width + c];
  }
  snprintf(what, sizeof what, "embedding [%u, %u] of [%u, %u], seed %llu", batch, tokens, rows,
           width, (unsigned long long)seed);
  op_test_begin(&test);
  test.tolerance = 0.0;
  heed_embedding_desc desc = {.struct_size = sizeof desc};
  desc.ids = op_test_input(&test, HEED_I32, HEED_SHAPE(batch, tokens), ids);
  desc.table = op_test_constant(&test, HEED_F32, HEED_SHAPE(rows, width), table);
  op_test_expect(&test, heed_define_embedding(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(table);
  free(ids);
  free(y);
}

static void test_table(void **state) {
  (void)state;
  run(1, 1, 1, 1, 1);
  run(2, 9, 5, 3, 2);
  run(1, 300, 40, 64, 3);
  run(3, 77, 100, 129, 4);
  run(1, 2, 3, 20000, 5);
  run(4, 50, 300, 129, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  return cmocka_run_group_tests_name("embedding", tests, NULL, test_backend_close_all);
}
