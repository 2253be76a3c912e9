/* select_rows: rows of axis 1, exact. */
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

static void run(uint32_t batch, uint32_t tokens, uint32_t width, uint32_t first, uint32_t count) {
  char what[120];
  test_random random = {tokens};
  op_test test;
  float *x = op_test_random(&random, (size_t)batch * tokens * width, 1.0f);
  double *y = op_test_doubles((size_t)batch * count * width);
  for (size_t b = 0; b < batch; b++)
    for (size_t t = 0; t < count; t++)
      for (size_t c = 0; c < width; c++)
        y[(b * count + t) * width + c] = (double)x[(b * tokens + first + t) * width + c];
  snprintf(what, sizeof what, "select_rows [%u, %u, %u], rows %u from %u", batch, tokens, width,
           count, first);
  op_test_begin(&test);
  test.tolerance = 0.0;
  heed_select_rows_desc desc = {sizeof desc,
                                op_test_input(&test, HEED_F32, HEED_SHAPE(batch, tokens, width), x),
                                first, count};
  op_test_expect(&test, heed_define_select_rows(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(y);
}

static void test_table(void **state) {
  (void)state;
  run(1, 1, 1, 0, 1);
  run(1, 197, 192, 0, 1);
  run(3, 197, 65, 0, 1);
  run(2, 198, 33, 1, 1);
  run(2, 50, 7, 1, 49);
  run(5, 10, 3, 9, 1);
  run(2, 10, 3, 0, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  return cmocka_run_group_tests_name("select_rows", tests, NULL, test_backend_close_all);
}
