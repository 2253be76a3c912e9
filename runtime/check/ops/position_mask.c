/* The reader of position_mask's case files. */
#include "check/case.h"
#include "heed/ops.h"

static const char *const causals[] = {"none", "top_left", "bottom_right", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  heed_position_mask_desc desc = {
      .struct_size = sizeof desc,
      .offsets = heed_case_input(test, "offsets"),
      .mask = heed_case_optional_input(test, "mask"),
      .queries = (uint32_t)heed_case_integer(test, "queries", 0),
      .keys = (uint32_t)heed_case_integer(test, "keys", 0),
      .causal = (heed_causal)heed_case_choice(test, "causal", causals, 0),
      .causal_offset = (int32_t)heed_case_integer(test, "causal_offset", 0)};
  int32_t window[2] = {0, 0};
  desc.window = heed_case_pair(test, "window", window);
  desc.window_left = window[0];
  desc.window_right = window[1];
  heed_case_result(test, "mask", heed_define_position_mask(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"position_mask", NULL};
const heed_layer_case heed_case_position_mask = {.names = names, .from_case = from_case};
