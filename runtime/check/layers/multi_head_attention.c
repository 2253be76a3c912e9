/* The reader of multi_head_attention's case files. */
#include "graph/layers/multi_head_attention.h"
#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

static const char *const causals[] = {"none", "top_left", "bottom_right", NULL};

/* Weights by nn.MultiheadAttention's names (stacked, or apart where key and value have a width of
 * their own), or q_weight ... o_bias. */
static void take_weights(heed_case *test, heed_multi_head_attention_desc *desc) {
  const heed_value apart = heed_case_optional_constant(test, "q_proj_weight"),
                   bias = heed_case_optional_constant(test, "in_proj_bias");
  desc->in_weight = heed_case_optional_constant(test, "in_proj_weight");
  const bool torch = apart.id || desc->in_weight.id;
  desc->o_weight = heed_case_constant(test, torch ? "out_proj.weight" : "o_weight");
  desc->o_bias = heed_case_optional_constant(test, torch ? "out_proj.bias" : "o_bias");
  if (desc->in_weight.id) {
    desc->in_bias = bias;
  } else {
    desc->q_weight = torch ? apart : heed_case_constant(test, "q_weight");
    desc->k_weight = heed_case_constant(test, torch ? "k_proj_weight" : "k_weight");
    desc->v_weight = heed_case_constant(test, torch ? "v_proj_weight" : "v_weight");
    desc->q_bias = torch ? heed_multi_head_part(heed_case_graph(test), bias, 0, 1)
                         : heed_case_optional_constant(test, "q_bias");
    desc->k_bias = torch ? heed_multi_head_part(heed_case_graph(test), bias, 1, 1)
                         : heed_case_optional_constant(test, "k_bias");
    desc->v_bias = torch ? heed_multi_head_part(heed_case_graph(test), bias, 2, 1)
                         : heed_case_optional_constant(test, "v_bias");
  }
}

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t heads = heed_case_integer(test, "heads", 0);
  if (heads < 1 || heads > UINT32_MAX)
    return heed_fail(error, HEED_INVALID_FILE,
                     "multi_head_attention: invalid heads (found %lld, expected 1 or more)",
                     (long long)heads);
  heed_multi_head_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = heed_case_input(test, "query"),
      .key_value = heed_case_input(test, "key_value"),
      .heads = (uint32_t)heads,
      .mask = heed_case_optional_input(test, "mask"),
      .key_padding = heed_case_optional_input(test, "key_padding"),
      .query_padding = heed_case_optional_input(test, "query_padding"),
      .bias = heed_case_optional_input(test, "bias"),
      .causal = (heed_causal)heed_case_choice(test, "causal", causals, 0)};
  take_weights(test, &desc);
  const heed_attention_values values =
      heed_define_multi_head_attention(heed_case_graph(test), &desc);
  heed_case_result(test, "output", values.output);
  heed_case_result(test, "weights", values.weights);
  return HEED_OK;
}

static const char *const names[] = {"multi_head_attention", NULL};
const heed_layer_case heed_case_multi_head_attention = {.names = names, .from_case = from_case};
