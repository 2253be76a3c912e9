/* The reader of linear's case files. */
#include "check/case.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_linear_desc desc = {sizeof desc,
                                 heed_case_input(test, "x"),
                                 heed_case_constant(test, "weight"),
                                 heed_case_optional_constant(test, "bias"),
                                 {0},
                                 HEED_ACTIVATION_NONE,
                                 0,
                                 0};
  heed_case_result(test, "y", heed_define_linear(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"linear", NULL};
const heed_layer_case heed_case_linear = {names, from_case};
