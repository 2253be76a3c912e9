/* multiply: y = a b, b broadcast to a's shape. */
#include "graph/broadcast_rule.h"

heed_value heed_define_multiply(heed_graph *graph, const heed_multiply_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_multiply, desc, NULL);
}

const heed_op heed_op_multiply = {"multiply", sizeof(heed_multiply_desc), heed_broadcast_infer,
                                  heed_broadcast_flops, true};
