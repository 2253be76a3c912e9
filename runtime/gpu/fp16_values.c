/* Which values are fp16. The graph alone decides, so a value's writer and its readers agree. See
 * fp16_values.h. */
#include "gpu/fp16_values.h"

#include "gpu/op.h"
#include "graph/op_check.h"

static bool writes(const heed_plan *plan, const heed_gpu_limits *limits, const heed_node *node,
                   uint32_t root) {
  const heed_gpu_op *op = heed_gpu_ops[node->op];
  return node->output[0] == root && op->writes_fp16 && op->writes_fp16(plan, limits, node);
}

/* Whether the input in the slot, a view of the value or all of it, is one that is read as fp16. */
static bool reads(const heed_graph *graph, const heed_node *node, uint32_t slot) {
  const heed_gpu_op *op = heed_gpu_ops[node->op];
  const heed_value_record *record = heed_graph_record(graph, node->input[slot]);
  if (record->dtype != HEED_F32 || heed_op_last(record) % 4 != 0) return false;
  if (record->kind == HEED_VALUE_VIEW && record->offset % 4 != 0) return false;
  return op->reads_fp16 && op->reads_fp16(graph, node, slot);
}

bool heed_gpu_is_fp16(const heed_plan *plan, const heed_gpu_limits *limits, uint32_t value) {
  const heed_graph *graph = plan->graph;
  if (!limits->half_values || !value) return false;
  const uint32_t root = heed_graph_root(graph, value);
  const heed_value_record *record = heed_graph_record(graph, root);
  if (record->kind != HEED_VALUE_RESULT || record->dtype != HEED_F32 || plan->placement[root].kept)
    return false;
  if (!writes(plan, limits, &graph->nodes[record->node], root)) return false;
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    for (uint32_t slot = 0; slot < HEED_NODE_INPUTS; slot++)
      if (node->input[slot] && heed_graph_root(graph, node->input[slot]) == root &&
          !reads(graph, node, slot))
        return false;
  }
  return true;
}
