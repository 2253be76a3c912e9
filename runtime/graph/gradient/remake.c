/* The last stages keep their results, since those are read soon. An earlier one keeps what later
 * stages read, which of a block is the sum that it hands on; the rest is computed again when the
 * reverse pass comes to it. So the memory grows by one value a block, for the price of one more
 * forward pass at most. */
#include "graph/gradient/remake.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

uint32_t heed_gradient_own(const heed_gradient *g, uint32_t id) {
  const uint32_t root = heed_graph_root(g->graph, id);
  if (root <= g->count || root - g->count >= g->forward_count) return root;
  const uint32_t forward = g->forward[root - g->count];
  return forward ? forward : root;
}

/* Of all results of a stage but maps. */
static uint64_t stage_bytes(const heed_gradient *g, uint32_t stage) {
  uint64_t bytes = 0;
  for (size_t n = 0; n < g->graph->node_count; n++) {
    const heed_node *node = &g->graph->nodes[n];
    for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
      if (node->stage == stage && node->output[i] && !(heed_ops[node->op]->maps >> i & 1u)) {
        const heed_value_record *record = heed_graph_record(g->graph, node->output[i]);
        bytes += heed_shape_count(&record->shape) * heed_dtype_size(record->dtype);
      }
  }
  return bytes;
}

/* What stands for a value in the reverse pass. */
static heed_value find(heed_gradient *g, uint32_t id) {
  const heed_value_record record = *heed_graph_record(g->graph, id);
  if (record.kind == HEED_VALUE_VIEW && !g->again[id] && g->again[record.base])
    g->again[id] = heed_define_view(g->graph, (heed_value){g->again[record.base]}, record.offset,
                                    &record.shape)
                       .id;
  return (heed_value){g->again[id] ? g->again[id] : id};
}

static bool say_equal(heed_gradient *g, uint32_t made, uint32_t forward) {
  const size_t count = made - g->count + 1;
  heed_error error;
  if (!heed_grow(g->graph->context, &g->forward, &g->forward_room, count, sizeof *g->forward)) {
    heed_fail_memory(&error, "gradient", count * sizeof *g->forward);
    (void)heed_graph_fail(g->graph, &error);
    return false;
  }
  while (g->forward_count < count) g->forward[g->forward_count++] = 0;
  g->forward[made - g->count] = forward;
  g->again[forward] = made;
  return true;
}

static bool remake_node(heed_gradient *g, const heed_node *node) {
  const heed_op *op = heed_ops[node->op];
  unsigned char *desc = heed_graph_keep(g->graph, node->desc, op->desc_size);
  for (uint32_t i = 0; desc && i < op->input_count; i++) {
    heed_value value;
    memcpy(&value, desc + op->inputs[i].offset, sizeof value);
    if (!value.id) continue;
    value = find(g, value.id);
    memcpy(desc + op->inputs[i].offset, &value, sizeof value);
  }
  const heed_node *added = NULL;
  if (!desc || !heed_graph_add_node(g->graph, node->op, desc, &added).id) return false;
  const heed_node made = *added;
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
    if (node->output[i] && !say_equal(g, made.output[i], node->output[i])) return false;
  return true;
}

/* Nodes of the reverse pass have stages of their own, after all others. */
static bool remake_stage(heed_gradient *g, uint32_t stage) {
  for (size_t n = 0; n < g->graph->node_count; n++) {
    const heed_node node = g->graph->nodes[n];
    if (node.stage == stage && !remake_node(g, &node)) return false;
  }
  return true;
}

bool heed_gradient_remake(heed_gradient *g, heed_node *node) {
  if (node->stage != g->stage) {
    const uint64_t bytes = stage_bytes(g, node->stage);
    g->stage = node->stage;
    if (g->held + bytes <= g->held_bytes)
      g->held += bytes;
    else if (!g->again[node->output[0]] && !remake_stage(g, node->stage))
      return false;
  }
  if (!g->again[node->output[0]]) return true;
  *node = g->graph->nodes[heed_graph_record(g->graph, g->again[node->output[0]])->node];
  return true;
}
