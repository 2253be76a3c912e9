/* A linear node with an activation becomes a linear node, an activation and, with a residual, an
 * add. The last one takes the old node's place and gives its value. */
#include "graph/gradient/take_apart.h"

#include <string.h>

#include "heed/ops.h"

static void say_node(heed_graph *graph, uint32_t at) {
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
    if (graph->nodes[at].output[i]) graph->values[graph->nodes[at].output[i] - 1].node = at;
}

/* Moves the last node in front of node `at`. */
static void move_before(heed_graph *graph, uint32_t at) {
  const uint32_t last = (uint32_t)graph->node_count - 1;
  const heed_node moved = graph->nodes[last];
  memmove(graph->nodes + at + 1, graph->nodes + at, (last - at) * sizeof moved);
  graph->nodes[at] = moved;
  for (uint32_t i = at; i <= last; i++) say_node(graph, i);
}

/* Makes the node another one with the same result. */
static void replace(heed_graph *graph, uint32_t at, heed_op_kind op, const void *desc, size_t size,
                    uint32_t first, uint32_t second) {
  heed_node *node = &graph->nodes[at];
  void *kept = heed_graph_keep(graph, desc, size);
  if (!kept) return;
  node->op = op;
  node->desc = kept;
  memset(node->input, 0, sizeof node->input);
  node->input[0] = first;
  node->input[1] = second;
}

static void take_apart(heed_graph *graph, uint32_t *at) {
  const heed_linear_desc *old = graph->nodes[*at].desc;
  heed_linear_desc linear = *old;
  const heed_value residual = linear.residual;
  heed_graph_stage(graph, graph->nodes[*at].stage);
  linear.residual = (heed_value){0};
  linear.activation = HEED_ACTIVATION_NONE;
  heed_activation_desc activation = {sizeof activation, heed_define_linear(graph, &linear),
                                     old->activation, HEED_ACTIVATION_VALUE};
  if (!activation.x.id) return;
  move_before(graph, (*at)++);
  if (!residual.id) {
    replace(graph, *at, HEED_OP_KIND_activation, &activation, sizeof activation, activation.x.id,
            0);
    return;
  }
  const heed_add_desc add = {sizeof add, heed_define_activation(graph, &activation), residual};
  if (!add.a.id) return;
  move_before(graph, (*at)++);
  replace(graph, *at, HEED_OP_KIND_add, &add, sizeof add, add.a.id, add.b.id);
}

void heed_graph_take_apart(heed_graph *graph) {
  for (uint32_t n = 0; n < graph->node_count && graph->status == HEED_OK; n++) {
    const heed_node *node = &graph->nodes[n];
    if (node->op == HEED_OP_KIND_linear &&
        ((const heed_linear_desc *)node->desc)->activation != HEED_ACTIVATION_NONE)
      take_apart(graph, &n);
  }
}
