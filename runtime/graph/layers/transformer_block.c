/* transformer_block: an encoder block, or with memory a decoder block (Vaswani et al. 2017, 3.1),
 * norm after each part as there or before it (Xiong et al. 2020); PyTorch's
 * nn.TransformerEncoderLayer and nn.TransformerDecoderLayer at inference. */
#include "base/status.h"
#include "graph/graph.h"
#include "heed/ops.h"

typedef struct block {
  heed_graph *graph;
  const heed_transformer_block_desc *desc;
} block;

static heed_value norm(const block *b, heed_value x, const heed_affine *with) {
  const heed_layer_norm_desc desc = {sizeof desc, x, with->weight, with->bias, b->desc->epsilon};
  return heed_define_layer_norm(b->graph, &desc);
}

/* x + attention(x): the norm stands before the attention or after the sum. */
static heed_value attend(const block *b, heed_value x, const heed_attention_weights *weights,
                         const heed_affine *norm_weights, heed_value memory, heed_value key_padding,
                         heed_causal causal, heed_attention_values *values) {
  const heed_multi_head_attention_desc desc = {
      .struct_size = sizeof desc,
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
  const heed_linear_desc second = {.struct_size = sizeof second,
                                   .x = heed_define_linear(b->graph, &first),
                                   .weight = desc->linear2.weight,
                                   .bias = desc->linear2.bias,
                                   .residual = x};
  const heed_value y = heed_define_linear(b->graph, &second);
  return desc->pre_norm ? y : norm(b, y, norm_weights);
}

heed_transformer_block_values heed_define_transformer_block(
    heed_graph *graph, const heed_transformer_block_desc *desc) {
  heed_transformer_block_values values = {{0}, {{0}, {0}, {0}}, {{0}, {0}, {0}}};
  heed_transformer_block_desc full;
  if (!heed_graph_read_desc(graph, &full, sizeof full, desc, "transformer_block")) return values;
  desc = &full;
  const block b = {graph, desc};
  const heed_value none = {0};
  heed_value x = attend(&b, desc->x, &desc->self, &desc->norm1, none, desc->key_padding,
                        desc->causal ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_NONE, &values.self);
  if (desc->memory.id)
    x = attend(&b, x, &desc->cross, &desc->norm2, desc->memory, desc->memory_key_padding,
               HEED_CAUSAL_NONE, &values.cross);
  values.y = feed_forward(&b, x, desc->memory.id ? &desc->norm3 : &desc->norm2);
  return values;
}
