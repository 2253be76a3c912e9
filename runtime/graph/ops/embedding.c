/* embedding: rows of a table by id; ids [B, T], table [rows, C] -> [B, T, C]. */
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "model/case.h"

heed_value heed_define_embedding(heed_graph *graph, const heed_embedding_desc *desc) {
  const heed_value y = heed_graph_add_node(graph, HEED_OP_KIND_embedding, desc, NULL);
  if (!y.id || !desc->mask_padding) return y;
  const heed_attention_mask_desc mask = {.struct_size = sizeof mask, .key_ids = desc->ids, .padding_id = desc->padding_id};
  heed_graph_carry_mask(graph, y, heed_define_attention_mask(graph, &mask));
  return y;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy, heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_embedding_desc *desc = copy;
  (void)count;
  const heed_value_record *ids = heed_op_take(graph, node, desc->ids, HEED_I32, "embedding: ids", error);
  const heed_value_record *table = ids ? heed_op_take_constant(graph, node, desc->table, HEED_F32, "embedding: table", error) : NULL;
  if (!table) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_want_rank(ids, 2, 2, "embedding: ids", error));
  HEED_TRY(heed_op_want_rank(table, 2, 2, "embedding: table", error));
  results[0] = (heed_op_result){HEED_F32, HEED_SHAPE(ids->shape.dim[0], ids->shape.dim[1], table->shape.dim[1])};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

/* With a padding id the mask of the real tokens comes out too. */
static heed_status from_case(heed_case *test, heed_error *error) {
  const bool masks = heed_case_has(test, "padding_id");
  const int64_t padding = heed_case_integer(test, "padding_id", 0);
  if (padding < INT32_MIN || padding > INT32_MAX)
    return heed_fail(error, HEED_INVALID_FILE, "embedding: padding_id is off (found %lld, expected 32 bits)", (long long)padding);
  const heed_embedding_desc desc = {sizeof desc, heed_case_input(test, "ids"), heed_case_constant(test, "table"), masks, (int32_t)padding};
  const heed_value y = heed_define_embedding(heed_case_graph(test), &desc);
  heed_case_result(test, "y", y);
  if (masks) heed_case_result(test, "mask", heed_graph_mask_of(heed_case_graph(test), y));
  return HEED_OK;
}

static const char *const names[] = {"embedding", NULL};
const heed_op heed_op_embedding = {"embedding", sizeof(heed_embedding_desc), infer, flops, false};
const heed_layer_case heed_case_embedding = {names, from_case};
