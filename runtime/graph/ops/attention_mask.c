/* attention_mask: which pairs of tokens are real, from their ids, as Keras' MultiHeadAttention
 * combines padding masks: query AND key AND causal. Without query ids it is the padding mask of the
 * key ids itself. */
#include "graph/ops/attention_mask.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_attention_mask(heed_graph *graph, const heed_attention_mask_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_attention_mask, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_attention_mask_desc *desc = copy;
  (void)count;
  const heed_value_record *keys =
      heed_op_take(graph, node, HEED_ATTENTION_MASK_INPUT_KEY_IDS, HEED_I32, error);
  if (!keys) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(keys, 2, 2, "attention_mask: key_ids", error));
  results[0] = (heed_op_result){HEED_U8, keys->shape};
  if (!desc->query_ids.id) {
    if (desc->causal)
      return heed_op_refuse(error, "attention_mask: causal needs query_ids (found none)");
    return HEED_OK;
  }
  const heed_value_record *queries =
      heed_op_take(graph, node, HEED_ATTENTION_MASK_INPUT_QUERY_IDS, HEED_I32, error);
  if (!queries) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(queries, 2, 2, "attention_mask: query_ids", error));
  const heed_shape fits = HEED_SHAPE(keys->shape.dim[0], queries->shape.dim[1]);
  HEED_TRY(heed_op_check_shape(queries, &fits, "attention_mask: query_ids", error));
  results[0].shape = HEED_SHAPE(fits.dim[0], fits.dim[1], keys->shape.dim[1]);
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_ATTENTION_MASK_INPUTS] = {
    [HEED_ATTENTION_MASK_INPUT_KEY_IDS] = HEED_OP_INPUT(heed_attention_mask_desc, key_ids),
    [HEED_ATTENTION_MASK_INPUT_QUERY_IDS] = HEED_OP_INPUT(heed_attention_mask_desc, query_ids),
};

const heed_op heed_op_attention_mask = {.name = "attention_mask",
                                        .desc_size = sizeof(heed_attention_mask_desc),
                                        .inputs = inputs,
                                        .input_count = HEED_ATTENTION_MASK_INPUTS,
                                        .infer = infer,
                                        .flops = flops};
