/* embedding: rows of a table by id; ids [B, T], table [rows, C] -> [B, T, C]. */
#include "graph/ops/embedding.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_embedding(heed_graph *graph, const heed_embedding_desc *desc) {
  heed_embedding_desc full;
  if (!heed_graph_read_desc(graph, &full, sizeof full, desc, "embedding")) return (heed_value){0};
  const heed_value y = heed_graph_add_node(graph, HEED_OP_KIND_embedding, &full, NULL);
  if (!y.id || !full.mask_padding) return y;
  const heed_attention_mask_desc mask = {
      .struct_size = sizeof mask, .key_ids = full.ids, .padding_id = full.padding_id};
  heed_graph_carry_mask(graph, y, heed_define_attention_mask(graph, &mask));
  return y;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  (void)copy, (void)count;
  const heed_value_record *ids =
      heed_op_take(graph, node, HEED_EMBEDDING_INPUT_IDS, HEED_I32, error);
  const heed_value_record *table =
      ids ? heed_op_take_constant(graph, node, HEED_EMBEDDING_INPUT_TABLE, HEED_F32, error) : NULL;
  if (!table) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(ids, 2, 2, "embedding: ids", error));
  HEED_TRY(heed_op_check_rank(table, 2, 2, "embedding: table", error));
  results[0] = (heed_op_result){
      HEED_F32, HEED_SHAPE(ids->shape.dim[0], ids->shape.dim[1], table->shape.dim[1])};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_EMBEDDING_INPUTS] = {
    [HEED_EMBEDDING_INPUT_IDS] = HEED_OP_INPUT(heed_embedding_desc, ids),
    [HEED_EMBEDDING_INPUT_TABLE] = HEED_OP_INPUT(heed_embedding_desc, table),
};

const heed_op heed_op_embedding = {.name = "embedding",
                                   .desc_size = sizeof(heed_embedding_desc),
                                   .inputs = inputs,
                                   .input_count = HEED_EMBEDDING_INPUTS,
                                   .infer = infer,
                                   .flops = flops};
