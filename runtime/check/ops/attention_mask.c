/* The reader of attention_mask's case files. */
#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t padding = heed_case_integer(test, "padding_id", 0);
  if (padding < INT32_MIN || padding > INT32_MAX)
    return heed_fail(error, HEED_INVALID_FILE,
                     "attention_mask: invalid padding_id (found %lld, expected 32 bits)",
                     (long long)padding);
  const heed_attention_mask_desc desc = {sizeof desc, heed_case_optional_input(test, "query_ids"),
                                         heed_case_input(test, "key_ids"),
                                         heed_case_flag(test, "causal", false), (int32_t)padding};
  heed_case_result(test, "mask", heed_define_attention_mask(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"attention_mask", NULL};
const heed_layer_case heed_case_attention_mask = {.names = names, .from_case = from_case};
