/* The reader of attention_as_convolution's case files. */
#include "base/status.h"
#include "check/case.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  const heed_value image = heed_case_input(test, "image"), kernel = heed_case_constant(test, "kernel");
  heed_value_info info;
  const int64_t height = heed_case_integer(test, "height", 0), width = heed_case_integer(test, "width", 0);
  if (heed_graph_value_info(heed_case_graph(test), image, &info) == HEED_OK && info.shape.rank == 4 &&
      ((height && height != info.shape.dim[2]) || (width && width != info.shape.dim[3])))
    return heed_fail(error, HEED_INVALID_FILE, "attention_as_convolution: the image has another size (found %u x %u, expected %lld x %lld)", info.shape.dim[2],
                     info.shape.dim[3], (long long)height, (long long)width);
  heed_case_result(test, "y", heed_define_attention_as_convolution(heed_case_graph(test), image, kernel));
  return HEED_OK;
}

static const char *const names[] = {"attention_as_convolution", NULL};
const heed_layer_case heed_case_attention_as_convolution = {names, from_case};
