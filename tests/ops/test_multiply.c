/* multiply: numpy's broadcasting of b into a. */
#include "broadcast_test.h"

static double multiply(double a, double b) { return a * b; }

static const broadcast_op op = {"multiply", heed_define_multiply, multiply};

static void test_table(void **state) {
  (void)state;
  broadcast_table(&op);
}

static void test_random_shapes(void **state) {
  (void)state;
  broadcast_random_shapes(&op);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                     cmocka_unit_test(test_random_shapes)};
  return cmocka_run_group_tests_name("multiply", tests, NULL, test_backend_close_all);
}
