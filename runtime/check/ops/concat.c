/* The reader of concat's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_concat_desc desc = {sizeof desc,
                                 {heed_case_input(test, "a"), heed_case_input(test, "b")},
                                 2,
                                 (uint32_t)heed_case_integer(test, "axis", 0)};
  heed_case_result(test, "y", heed_define_concat(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"concat", NULL};
const heed_layer_case heed_case_concat = {.names = names, .from_case = from_case};
