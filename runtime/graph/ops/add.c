/* add: y = a + b, b broadcast to a's shape. */
#include "graph/broadcast_rule.h"

heed_value heed_define_add(heed_graph *graph, const heed_add_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_add, desc, NULL);
}

const heed_op heed_op_add = {"add", sizeof(heed_add_desc), heed_broadcast_infer,
                             heed_broadcast_flops, true};
