/* The reader of luong_attention's case files. */
#include "check/case.h"
#include "heed/ops.h"

static const char *const scores[] = {"dot", "general", "concat", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  heed_luong_attention_desc desc = {
      .struct_size = sizeof desc,
      .decoder = heed_case_input(test, "decoder"),
      .encoder = heed_case_input(test, "encoder"),
      .encoder_padding = heed_case_optional_input(test, "encoder_padding"),
      .score = (heed_score)(HEED_SCORE_DOT + heed_case_choice(test, "score", scores, 0)),
      .wc = heed_case_constant(test, "wc"),
      .wc_bias = heed_case_optional_constant(test, "wc_bias")};
  if (desc.score != HEED_SCORE_DOT) desc.wa = heed_case_constant(test, "wa");
  if (desc.score == HEED_SCORE_ADDITIVE) desc.va = heed_case_constant(test, "va");
  const heed_luong_attention_values values =
      heed_define_luong_attention(heed_case_graph(test), &desc);
  heed_case_result(test, "weights", values.weights);
  heed_case_result(test, "context", values.context);
  heed_case_result(test, "output", values.output);
  return HEED_OK;
}

static const char *const names[] = {"luong_attention", NULL};
const heed_layer_case heed_case_luong_attention = {.names = names, .from_case = from_case};
