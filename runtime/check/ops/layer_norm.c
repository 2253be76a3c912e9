/* The reader of layer_norm's case files. */
#include "check/case.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_layer_norm_desc desc = {
      sizeof desc, heed_case_input(test, "x"), heed_case_constant(test, "gain"),
      heed_case_constant(test, "bias"), (float)heed_case_number(test, "epsilon", 1e-5)};
  heed_case_result(test, "y", heed_define_layer_norm(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"layer_norm", NULL};
const heed_layer_case heed_case_layer_norm = {names, from_case};
