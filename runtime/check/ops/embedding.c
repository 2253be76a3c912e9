/* The reader of embedding's case files. */
#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  const bool masks = heed_case_has(test, "padding_id");
  const int64_t padding = heed_case_integer(test, "padding_id", 0);
  if (padding < INT32_MIN || padding > INT32_MAX)
    return heed_fail(error, HEED_INVALID_FILE,
                     "embedding: invalid padding_id (found %lld, expected 32 bits)",
                     (long long)padding);
  const heed_embedding_desc desc = {sizeof desc, heed_case_input(test, "ids"),
                                    heed_case_constant(test, "table"), masks, (int32_t)padding};
  const heed_value y = heed_define_embedding(heed_case_graph(test), &desc);
  heed_case_result(test, "y", y);
  if (masks) heed_case_result(test, "mask", heed_graph_mask_of(heed_case_graph(test), y));
  return HEED_OK;
}

static const char *const names[] = {"embedding", NULL};
const heed_layer_case heed_case_embedding = {.names = names, .from_case = from_case};
