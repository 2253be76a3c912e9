/* The reader of add's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_add_desc desc = {sizeof desc, heed_case_input(test, "a"), heed_case_input(test, "b")};
  heed_case_result(test, "y", heed_define_add(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"add", NULL};
const heed_layer_case heed_case_add = {.names = names, .from_case = from_case};
