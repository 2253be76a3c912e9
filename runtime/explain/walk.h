/* Going back through a graph from a value to what made it. */
#ifndef HEED_EXPLAIN_WALK_H
#define HEED_EXPLAIN_WALK_H

#include "graph/graph.h"
#include "heed/ops.h"

/* The value whose elements a view has all of, from view to view; else the value itself. */
static inline heed_value heed_walk_whole(const heed_graph *graph, heed_value value) {
  for (;;) {
    const heed_value_record *record = heed_graph_record(graph, value.id);
    if (record->kind != HEED_VALUE_VIEW ||
        heed_shape_count(&record->shape) !=
            heed_shape_count(&heed_graph_record(graph, record->base)->shape))
      return value;
    value.id = record->base;
  }
}

/* The node that made a value, or NULL for an input, a constant or a part of a value. */
static inline const heed_node *heed_walk_node(const heed_graph *graph, heed_value value) {
  const heed_value_record *record = heed_graph_record(graph, heed_walk_whole(graph, value).id);
  return record->kind == HEED_VALUE_RESULT ? &graph->nodes[record->node] : NULL;
}

/* The linear map that ends the MLP of the layer with these final states, and its result, to which
 * it adds its residual; NULL where there is none. */
static inline const heed_linear_desc *heed_walk_mlp(const heed_graph *graph, heed_value states,
                                                    heed_value *out) {
  const heed_node *node = states.id ? heed_walk_node(graph, states) : NULL;
  if (node && node->op == HEED_OP_KIND_layer_norm)
    node = heed_walk_node(graph, ((const heed_layer_norm_desc *)node->desc)->x);
  if (!node || node->op != HEED_OP_KIND_linear) return NULL;
  *out = (heed_value){node->output[0]};
  const heed_linear_desc *linear = node->desc;
  return linear->residual.id ? linear : NULL;
}

#endif
