/* The reader of softmax's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_softmax_desc desc = {sizeof desc, heed_case_input(test, "x")};
  heed_case_result(test, "y", heed_define_softmax(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"softmax", NULL};
const heed_layer_case heed_case_softmax = {.names = names, .from_case = from_case};
