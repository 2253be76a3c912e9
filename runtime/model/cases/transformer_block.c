/* transformer_block: an encoder block, or with memory a decoder block (Vaswani et al. 2017, 3.1), norm after each part as there or
 * before it (Xiong et al. 2020); PyTorch's nn.TransformerEncoderLayer and nn.TransformerDecoderLayer at inference. */
#include <stdio.h>

#include "base/status.h"
#include "graph/graph.h"
#include "model/case.h"

typedef struct block {
  heed_graph *graph;
  const heed_transformer_block_desc *desc;
} block;

static heed_value norm(const block *b, heed_value x, const heed_affine *with) {
  const heed_layer_norm_desc desc = {sizeof desc, x, with->weight, with->bias, b->desc->epsilon};
  return heed_define_layer_norm(b->graph, &desc);
}

/* x + attention(x): the norm stands before the attention or after the sum. */
static heed_value attend(const block *b, heed_value x, const heed_attention_weights *weights, const heed_affine *norm_weights, heed_value memory, heed_value key_padding,
                         heed_causal causal, heed_attention_values *values) {
  const heed_multi_head_attention_desc desc = {.struct_size = sizeof desc,
                                               .query = b->desc->pre_norm ? norm(b, x, norm_weights) : x,
                                               .key_value = memory,
                                               .in_weight = weights->in.weight,
                                               .in_bias = weights->in.bias,
                                               .o_weight = weights->out.weight,
                                               .o_bias = weights->out.bias,
                                               .heads = b->desc->heads,
                                               .key_padding = key_padding,
                                               .causal = causal,
                                               .residual = x};
  *values = heed_define_multi_head_attention(b->graph, &desc);
  return b->desc->pre_norm ? values->output : norm(b, values->output, norm_weights);
}

static heed_value feed_forward(const block *b, heed_value x, const heed_affine *norm_weights) {
  const heed_transformer_block_desc *desc = b->desc;
  const heed_linear_desc first = {.struct_size = sizeof first,
                                  .x = desc->pre_norm ? norm(b, x, norm_weights) : x,
                                  .weight = desc->linear1.weight,
                                  .bias = desc->linear1.bias,
                                  .activation = desc->activation};
  const heed_linear_desc second = {
      .struct_size = sizeof second, .x = heed_define_linear(b->graph, &first), .weight = desc->linear2.weight, .bias = desc->linear2.bias, .residual = x};
  const heed_value y = heed_define_linear(b->graph, &second);
  return desc->pre_norm ? y : norm(b, y, norm_weights);
}

heed_transformer_block_values heed_define_transformer_block(heed_graph *graph, const heed_transformer_block_desc *desc) {
  heed_transformer_block_values values = {{0}, {{0}, {0}, {0}}, {{0}, {0}, {0}}};
  if (desc->struct_size != sizeof *desc) {
    heed_error error;
    heed_fail(&error, HEED_INVALID_ARGUMENT, "transformer_block: struct_size is off (found %zu, expected %zu)", desc->struct_size, sizeof *desc);
    heed_graph_fail(graph, &error);
    return values;
  }
  const block b = {graph, desc};
  const heed_value none = {0};
  heed_value x = attend(&b, desc->x, &desc->self, &desc->norm1, none, desc->key_padding, desc->causal ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_NONE, &values.self);
  if (desc->memory.id) x = attend(&b, x, &desc->cross, &desc->norm2, desc->memory, desc->memory_key_padding, HEED_CAUSAL_NONE, &values.cross);
  values.y = feed_forward(&b, x, desc->memory.id ? &desc->norm3 : &desc->norm2);
  return values;
}

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
static const char *const activations[] = {"none", "relu", "gelu", "gelu_tanh", "gelu_quick", "tanh", "sigmoid", "silu", "elu_plus_one", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t heads = heed_case_integer(test, "heads", 0);
  if (heads < 1 || heads > UINT32_MAX) return heed_fail(error, HEED_INVALID_FILE, "transformer_block: heads is off (found %lld, expected 1 or more)", (long long)heads);
  const bool decoder = heed_case_op(test)[0] == 'd';
  heed_transformer_block_desc desc = {.struct_size = sizeof desc,
                                      .x = heed_case_input(test, "x"),
                                      .key_padding = heed_case_optional_input(test, "key_padding"),
                                      .heads = (uint32_t)heads,
                                      .pre_norm = heed_case_choice(test, "norm", norms, 0) == 1,
                                      .activation = (heed_activation)heed_case_choice(test, "activation", activations, HEED_ACTIVATION_RELU),
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
    desc.cross = (heed_attention_weights){affine(test, "multihead_attn.in_proj", '_'), affine(test, "multihead_attn.out_proj", '.')};
    desc.norm3 = affine(test, "norm3", '.');
  }
  const heed_transformer_block_values values = heed_define_transformer_block(heed_case_graph(test), &desc);
  heed_case_result(test, "y", values.y);
  heed_case_result(test, "self_weights", values.self.weights);
  if (decoder) heed_case_result(test, "cross_weights", values.cross.weights);
  return HEED_OK;
}

static const char *const names[] = {"encoder_block", "decoder_block", NULL};
const heed_layer_case heed_case_transformer_block = {names, from_case};
