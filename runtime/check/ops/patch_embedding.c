/* The reader of patch_embedding's case files. */
#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  const heed_patch_embedding_desc desc = {sizeof desc, heed_case_input(test, "image"),
                                          heed_case_constant(test, "weight"),
                                          heed_case_optional_constant(test, "bias")};
  const heed_value y = heed_define_patch_embedding(heed_case_graph(test), &desc);
  heed_value_info weight;
  const int64_t patch = heed_case_integer(test, "patch", 0);
  if (y.id && heed_case_has(test, "patch") &&
      heed_graph_value_info(heed_case_graph(test), desc.weight, &weight) == HEED_OK) {
    if (patch != weight.shape.dim[2])
      return heed_fail(error, HEED_INVALID_FILE,
                       "patch_embedding: patch differs from the weight's (found %lld, expected %u)",
                       (long long)patch, weight.shape.dim[2]);
  }
  heed_case_result(test, "y", y);
  return HEED_OK;
}

static const char *const names[] = {"patch_embedding", NULL};
const heed_layer_case heed_case_patch_embedding = {.names = names, .from_case = from_case};
