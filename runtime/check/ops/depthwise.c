/* The reader of depthwise's case files. */
#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

static const char *const kinds[] = {"sum", "mean", "max", NULL};

/* Two whole numbers, of rows and of columns. */
static heed_status read_two(heed_case *test, const char *name, uint32_t to[2], heed_error *error) {
  const uint32_t count = heed_case_list(test, name, to, 2);
  if (count == 0 || count == 2) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "depthwise: invalid attribute %s (found 1 number, expected 2)", name);
}

static heed_status from_case(heed_case *test, heed_error *error) {
  heed_depthwise_desc desc = {.struct_size = sizeof desc,
                              .x = heed_case_input(test, "x"),
                              .weight = heed_case_optional_constant(test, "weight"),
                              .bias = heed_case_optional_constant(test, "bias"),
                              .kind = (heed_depthwise)heed_case_choice(test, "kind", kinds, 0),
                              .count_padding = heed_case_flag(test, "count_padding", false)};
  HEED_TRY(read_two(test, "kernel", desc.kernel, error));
  HEED_TRY(read_two(test, "stride", desc.stride, error));
  HEED_TRY(read_two(test, "dilation", desc.dilation, error));
  HEED_TRY(read_two(test, "before", desc.before, error));
  HEED_TRY(read_two(test, "after", desc.after, error));
  HEED_TRY(read_two(test, "size", desc.size, error));
  heed_case_result(test, "y", heed_define_depthwise(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"depthwise", NULL};
const heed_layer_case heed_case_depthwise = {.names = names, .from_case = from_case};
