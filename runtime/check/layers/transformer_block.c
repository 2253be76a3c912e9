/* The reader of case files of encoder and decoder blocks, with the names of
 * nn.TransformerEncoderLayer and nn.TransformerDecoderLayer. */
#include <stdio.h>

#include "base/status.h"
#include "check/case.h"
#include "heed/ops.h"

/* The constants stem.weight (or stem_weight) and the same with bias. */
static heed_affine affine(heed_case *test, const char *stem, char join) {
  char name[64];
  heed_affine pair;
  snprintf(name, sizeof name, "%s%cweight", stem, join);
  pair.weight = heed_case_constant(test, name);
  snprintf(name, sizeof name, "%s%cbias", stem, join);
  pair.bias = heed_case_optional_constant(test, name);
  return pair;
}

static const char *const norms[] = {"post", "pre", NULL};
static const char *const activations[] = {"none", "relu",    "gelu", "gelu_tanh",    "gelu_quick",
                                          "tanh", "sigmoid", "silu", "elu_plus_one", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t heads = heed_case_integer(test, "heads", 0);
  if (heads < 1 || heads > UINT32_MAX)
    return heed_fail(error, HEED_INVALID_FILE,
                     "transformer_block: invalid heads (found %lld, expected 1 or more)",
                     (long long)heads);
  const bool decoder = heed_case_op(test)[0] == 'd';
  heed_transformer_block_desc desc = {
      .struct_size = sizeof desc,
      .x = heed_case_input(test, "x"),
      .key_padding = heed_case_optional_input(test, "key_padding"),
      .heads = (uint32_t)heads,
      .pre_norm = heed_case_choice(test, "norm", norms, 0) == 1,
      .activation =
          (heed_activation)heed_case_choice(test, "activation", activations, HEED_ACTIVATION_RELU),
      .epsilon = (float)heed_case_number(test, "epsilon", 1e-5),
      .causal = heed_case_flag(test, "causal", decoder),
      .self = {affine(test, "self_attn.in_proj", '_'), affine(test, "self_attn.out_proj", '.')},
      .linear1 = affine(test, "linear1", '.'),
      .linear2 = affine(test, "linear2", '.'),
      .norm1 = affine(test, "norm1", '.'),
      .norm2 = affine(test, "norm2", '.')};
  if (decoder) {
    desc.memory = heed_case_input(test, "memory");
    desc.memory_key_padding = heed_case_optional_input(test, "memory_key_padding");
    desc.cross = (heed_attention_weights){affine(test, "multihead_attn.in_proj", '_'),
                                          affine(test, "multihead_attn.out_proj", '.')};
    desc.norm3 = affine(test, "norm3", '.');
  }
  const heed_transformer_block_values values =
      heed_define_transformer_block(heed_case_graph(test), &desc);
  heed_case_result(test, "y", values.y);
  heed_case_result(test, "self_weights", values.self.weights);
  if (decoder) heed_case_result(test, "cross_weights", values.cross.weights);
  return HEED_OK;
}

static const char *const names[] = {"encoder_block", "decoder_block", NULL};
const heed_layer_case heed_case_transformer_block = {.names = names, .from_case = from_case};
