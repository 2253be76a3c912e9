/* See host.h. */
#include "graph/host.h"

#include "base/status.h"
#include "graph/op_check.h"

void heed_define_host(heed_graph *graph, const heed_host_desc *desc,
                      heed_value outputs[HEED_NODE_OUTPUTS]) {
  const heed_node *node;
  heed_graph_add_node(graph, HEED_OP_KIND_host, desc, &node);
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
    outputs[i] = (heed_value){node ? node->output[i] : 0};
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_host_desc *desc = copy;
  if (desc->input_count > HEED_NODE_INPUTS || desc->output_count < 1 ||
      desc->output_count > HEED_NODE_OUTPUTS || !desc->compute)
    return heed_op_refuse(
        error,
        "host: wrong counts (found %u inputs and %u outputs, expected at most %d and 1 to %d)",
        (unsigned)desc->input_count, (unsigned)desc->output_count, HEED_NODE_INPUTS,
        HEED_NODE_OUTPUTS);
  for (uint32_t i = 0; i < desc->input_count; i++)
    if (!heed_op_take(graph, node, i, HEED_F32, error)) return HEED_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < desc->output_count; i++)
    results[i] = (heed_op_result){HEED_F32, desc->shape[i]};
  *count = desc->output_count;
  return HEED_OK;
}

/* Nobody knows; at least one for each element that it gives. */
static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_host_desc *desc = node->desc;
  uint64_t sum = 0;
  (void)graph;
  for (uint32_t i = 0; i < desc->output_count; i++) sum += heed_shape_count(&desc->shape[i]);
  return sum;
}

#define X(i) [i] = HEED_OP_INPUT(heed_host_desc, x[i])
static const heed_op_input inputs[HEED_NODE_INPUTS] = {X(0), X(1), X(2), X(3),
                                                       X(4), X(5), X(6), X(7)};
#undef X

const heed_op heed_op_host = {.name = "host",
                              .desc_size = sizeof(heed_host_desc),
                              .inputs = inputs,
                              .input_count = HEED_NODE_INPUTS,
                              .infer = infer,
                              .flops = flops};
