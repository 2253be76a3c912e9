/* The reader of positional_encoding's case files. */
#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t length = heed_case_integer(test, "length", 0),
                width = heed_case_integer(test, "width", 0);
  if (length < 1 || width < 1 || length > UINT32_MAX || width > UINT32_MAX)
    return heed_fail(
        error, HEED_INVALID_FILE,
        "positional_encoding: invalid size (found length %lld, width %lld, expected 1 or more)",
        (long long)length, (long long)width);
  heed_graph *graph = heed_case_graph(test);
  /* Only a computed value can be read after a run: the axes in their own order are a copy. */
  const heed_permute_desc copy = {
      sizeof copy,
      heed_define_positional_encoding(graph, (uint32_t)length, (uint32_t)width),
      {0, 1}};
  heed_case_result(test, "y", heed_define_permute(graph, &copy));
  return HEED_OK;
}

static const char *const names[] = {"positional_encoding", NULL};
const heed_layer_case heed_case_positional_encoding = {.names = names, .from_case = from_case};
