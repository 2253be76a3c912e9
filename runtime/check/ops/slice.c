/* The reader of slice's case files. */
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  heed_slice_desc desc = {.struct_size = sizeof desc,
                          .x = heed_case_input(test, "x"),
                          .value = (float)heed_case_number(test, "value", 0.0)};
  desc.shape.rank = heed_case_list(test, "shape", desc.shape.dim, HEED_MAX_RANK);
  heed_case_signed_list(test, "start", desc.start);
  if (heed_case_signed_list(test, "step", desc.step) == 0)
    for (uint32_t i = 0; i < HEED_MAX_RANK; i++) desc.step[i] = 1;
  heed_case_result(test, "y", heed_define_slice(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"slice", NULL};
const heed_layer_case heed_case_slice = {.names = names, .from_case = from_case};
