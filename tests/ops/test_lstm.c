/* lstm against the same in double. */
#include "support/recurrent_test.h"

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static void cell(const double *x, const double *gates, size_t hidden, double *h, double *c) {
  const double input = sigmoid(x[0] + gates[0]), forget = sigmoid(x[hidden] + gates[hidden]);
  const double candidate = tanh(x[2 * hidden] + gates[2 * hidden]),
               output = sigmoid(x[3 * hidden] + gates[3 * hidden]);
  *c = forget * *c + input * candidate;
  *h = output * tanh(*c);
}

static const recurrent_kind kind = {"lstm", 4, true, cell, heed_define_lstm};

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
      &kind,
      "lstm: weight_ih has a wrong number of rows (found 10, expected a multiple of 4 gates)", 10,
      3);
  recurrent_wrong(&kind, "lstm: weight_hh: wrong shape (found [12, 4], expected [12, 3])", 12, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_bits),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("lstm", tests, NULL, test_backend_close_all);
}
