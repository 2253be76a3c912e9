/* The reader of select_rows's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_select_rows_desc desc = {sizeof desc, heed_case_input(test, "x"),
                                      (uint32_t)heed_case_integer(test, "first", 0),
                                      (uint32_t)heed_case_integer(test, "count", 1)};
  heed_case_result(test, "y", heed_define_select_rows(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"select_rows", NULL};
const heed_layer_case heed_case_select_rows = {.names = names, .from_case = from_case};
