/* gru against the same in double. */
#include "support/recurrent_test.h"

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static void cell(const double *x, const double *gates, size_t hidden, double *h, double *c) {
  (void)c;
  const double reset = sigmoid(x[0] + gates[0]), update = sigmoid(x[hidden] + gates[hidden]);
  const double next = tanh(x[2 * hidden] + reset * gates[2 * hidden]);
  *h = (1.0 - update) * next + update * *h;
}

static const recurrent_kind kind = {"gru", 3, false, cell, heed_define_gru};

static void test_sizes(void **state) {
  (void)state;
  recurrent_sizes(&kind);
}

static void test_bits(void **state) {
  (void)state;
  recurrent_bits(&kind);
}

static void test_wrong(void **state) {
  (void)state;
  recurrent_wrong(
      &kind, "gru: weight_ih has a wrong number of rows (found 10, expected a multiple of 3 gates)",
      10, 3);
  recurrent_wrong(&kind, "gru: weight_hh: wrong shape (found [9, 4], expected [9, 3])", 9, 4);
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  static const float zeros[9];
  const heed_value weight = op_test_constant(&test, HEED_F32, HEED_SHAPE(3, 1), zeros);
  const heed_recurrent_desc desc = {.struct_size = sizeof desc,
                                    .x = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 1, 1), zeros),
                                    .weight_ih = weight,
                                    .weight_hh = weight,
                                    .c = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 1), zeros)};
  heed_define_gru(test.graph, &desc);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, "gru: no cell state");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_bits),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("gru", tests, NULL, test_backend_close_all);
}
