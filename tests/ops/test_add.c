/* add: numpy's broadcasting of b into a. */
#include "broadcast_test.h"

static double add(double a, double b) { return a + b; }

static const broadcast_op op = {"add", heed_define_add, add};

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
  return cmocka_run_group_tests_name("add", tests, NULL, test_backend_close_all);
}
