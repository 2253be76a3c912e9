/* multiply: y = a b, b broadcast to a's shape. */
#include "graph/broadcast_rule.h"
#include "graph/gradient/adjoint.h"
#include "heed/ops.h"

heed_value heed_define_multiply(heed_graph *graph, const heed_multiply_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_multiply, desc, NULL);
}

const heed_op heed_op_multiply = {.name = "multiply",
                                  .desc_size = sizeof(heed_multiply_desc),
                                  .inputs = heed_broadcast_inputs,
                                  .input_count = HEED_BROADCAST_INPUTS,
                                  .infer = heed_broadcast_infer,
                                  .flops = heed_broadcast_flops,
                                  .keeps_tokens = true,
                                  .adjoint = heed_adjoint_multiply};
