/* The reader of permute's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  heed_permute_desc desc = {.struct_size = sizeof desc, .x = heed_case_input(test, "x")};
  heed_case_list(test, "order", desc.order, HEED_MAX_RANK);
  heed_case_result(test, "y", heed_define_permute(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"permute", NULL};
const heed_layer_case heed_case_permute = {.names = names, .from_case = from_case};
