/* Which tokens of a value are real, carried along with it: from an embedding with padding through
 * every op that keeps the tokens, to the attention that masks with it (Keras' mask_zero and its
 * implicit masks). */
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/op_check.h"

void heed_graph_carry_mask(heed_graph *graph, heed_value value, heed_value mask) {
  heed_error error;
  if (graph->status != HEED_OK) return;
  const heed_value_record *of = heed_graph_need(graph, value, "carry_mask: value", &error);
  const heed_value_record *record =
      of && mask.id ? heed_graph_need(graph, mask, "carry_mask: mask", &error) : NULL;
  if (!of || (mask.id && !record)) {
    heed_graph_fail(graph, &error);
    return;
  }
  const uint32_t *d = of->shape.dim;
  if (of->shape.rank != 3 ||
      (record && (record->dtype != HEED_U8 || record->shape.rank != 2 ||
                  record->shape.dim[0] != d[0] || record->shape.dim[1] != d[1]))) {
    char text[2][HEED_SHAPE_TEXT_SIZE];
    heed_op_refuse(
        &error,
        "carry_mask: mask does not fit the value (found %s %s for %s, expected U8 [B, T] for "
        "[B, T, C])",
        record ? heed_dtype_name(record->dtype) : "none",
        record ? heed_shape_text(&record->shape, text[0]) : "",
        heed_shape_text(&of->shape, text[1]));
    heed_graph_fail(graph, &error);
    return;
  }
  graph->values[value.id - 1].mask = mask.id;
}

heed_value heed_graph_mask_of(const heed_graph *graph, heed_value value) {
  return (heed_value){value.id && value.id <= graph->value_count ? graph->values[value.id - 1].mask
                                                                 : 0};
}

heed_status heed_graph_inherit_mask(const heed_graph *graph, const heed_node *node,
                                    const heed_shape *shape, uint32_t *mask, heed_error *error) {
  *mask = 0;
  if (!heed_ops[node->op]->keeps_tokens || shape->rank != 3) return HEED_OK;
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++) {
    const heed_value_record *input =
        node->input[i] ? heed_graph_record(graph, node->input[i]) : NULL;
    if (!input || !input->mask || input->shape.dim[0] != shape->dim[0] ||
        input->shape.dim[1] != shape->dim[1])
      continue;
    if (*mask && *mask != input->mask)
      return heed_op_refuse(
          error, "%s: inputs carry different padding masks (found values %u and %u, expected one)",
          heed_ops[node->op]->name, *mask, input->mask);
    *mask = input->mask;
  }
  return HEED_OK;
}
