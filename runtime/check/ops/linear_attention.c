/* The reader of linear_attention's case files. */
#include "check/case.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_linear_attention_desc desc = {sizeof desc,
                                           heed_case_input(test, "query"),
                                           heed_case_input(test, "key"),
                                           heed_case_input(test, "value"),
                                           heed_case_flag(test, "causal", false),
                                           heed_case_flag(test, "recurrent", false)};
  heed_case_result(test, "output", heed_define_linear_attention(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"linear_attention", NULL};
const heed_layer_case heed_case_linear_attention = {names, from_case};
