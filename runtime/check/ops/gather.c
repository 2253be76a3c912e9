/* The reader of gather's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_gather_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_case_input(test, "x"),
                                 .indices = heed_case_input(test, "indices"),
                                 .axis = (uint32_t)heed_case_integer(test, "axis", 0),
                                 .elements = heed_case_flag(test, "elements", false)};
  heed_case_result(test, "y", heed_define_gather(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"gather", NULL};
const heed_layer_case heed_case_gather = {.names = names, .from_case = from_case};
