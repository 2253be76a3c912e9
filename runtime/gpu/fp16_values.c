/* The rule, by the graph alone, so that writer and readers of a value agree. */
#include "gpu/fp16_values.h"

#include "graph/attention_rule.h"

static uint32_t last_of(const heed_graph *graph, uint32_t value) {
  const heed_shape *shape = &heed_graph_record(graph, value)->shape;
  return shape->rank ? shape->dim[shape->rank - 1] : 1;
}

static bool writes(const heed_graph *graph, const heed_node *node, uint32_t root) {
  if (node->output[0] != root) return false;
  if (node->op == HEED_OP_KIND_linear) {
    const heed_linear_desc *desc = node->desc;
    return !desc->residual.id && last_of(graph, root) % 4 == 0;
  }
  return node->op == HEED_OP_KIND_attention &&
         last_of(graph, ((const heed_attention_desc *)node->desc)->value.id) % 4 == 0;
}

/* Whether this input of the node, a view of the value or all of it, is one that is read as fp16. */
static bool reads(const heed_graph *graph, const heed_node *node, uint32_t input) {
  const heed_value_record *record = heed_graph_record(graph, input);
  if (record->dtype != HEED_F32 || last_of(graph, input) % 4 != 0) return false;
  if (record->kind == HEED_VALUE_VIEW && record->offset % 4 != 0) return false;
  if (node->op == HEED_OP_KIND_linear) {
    const heed_linear_desc *desc = node->desc;
    return desc->x.id == input && desc->bias.id != input && desc->residual.id != input &&
           last_of(graph, desc->weight.id) % 4 == 0;
  }
  if (node->op != HEED_OP_KIND_attention) return false;
  const heed_attention_desc *desc = node->desc;
  if (desc->score == HEED_SCORE_ADDITIVE || desc->bias.id == input) return false;
  /* key and value are read as fours together */
  return last_of(graph, desc->key.id) % 4 == 0 && last_of(graph, desc->value.id) % 4 == 0 &&
         (desc->query.id == input || desc->key.id == input || desc->value.id == input);
}

bool heed_vk_is_fp16(const heed_plan *plan, const heed_vk_limits *limits, uint32_t value) {
  const heed_graph *graph = plan->graph;
  if (!limits->half_values || !value) return false;
  const uint32_t root = heed_graph_root(graph, value);
  const heed_value_record *record = heed_graph_record(graph, root);
  if (record->kind != HEED_VALUE_RESULT || record->dtype != HEED_F32 || plan->placement[root].kept)
    return false;
  if (!writes(graph, &graph->nodes[record->node], root)) return false;
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
      if (node->input[i] && heed_graph_root(graph, node->input[i]) == root &&
          !reads(graph, node, node->input[i]))
        return false;
  }
  return true;
}
