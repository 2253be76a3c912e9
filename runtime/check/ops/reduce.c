/* The reader of reduce's case files. */
#include "check/case.h"
#include "heed/ops.h"

static const char *const kinds[] = {"sum",    "mean",   "max",        "min",     "product",
                                    "l1",     "l2",     "sum_square", "log_sum", "log_sum_exp",
                                    "argmax", "argmin", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  heed_reduce_desc desc = {.struct_size = sizeof desc,
                           .x = heed_case_input(test, "x"),
                           .kind = (heed_reduce)heed_case_choice(test, "kind", kinds, 0),
                           .keep_axes = heed_case_flag(test, "keep_axes", false),
                           .last = heed_case_flag(test, "last", false)};
  uint32_t axes[HEED_MAX_RANK];
  const uint32_t count = heed_case_list(test, "axes", axes, HEED_MAX_RANK);
  /* no tensor has as many axes as the last bit stands for: it is refused */
  for (uint32_t i = 0; i < count; i++) desc.axes |= 1u << (axes[i] < 31u ? axes[i] : 31u);
  heed_case_result(test, "y", heed_define_reduce(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"reduce", NULL};
const heed_layer_case heed_case_reduce = {.names = names, .from_case = from_case};
