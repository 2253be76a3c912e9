/* The reader of matmul's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_matmul_desc desc = {.struct_size = sizeof desc,
                                 .a = heed_case_input(test, "a"),
                                 .b = heed_case_input(test, "b"),
                                 .transpose_a = heed_case_flag(test, "transpose_a", false),
                                 .transpose_b = heed_case_flag(test, "transpose_b", false)};
  heed_case_result(test, "y", heed_define_matmul(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"matmul", NULL};
const heed_layer_case heed_case_matmul = {.names = names, .from_case = from_case};
