/* numpy's broadcasting, and what add and multiply have in common: heed_add_desc, b broadcast to a's
 * shape. */
#ifndef HEED_GRAPH_BROADCAST_RULE_H
#define HEED_GRAPH_BROADCAST_RULE_H

#include "graph/graph.h"

enum heed_broadcast_input { HEED_BROADCAST_INPUT_A, HEED_BROADCAST_INPUT_B, HEED_BROADCAST_INPUTS };
extern const heed_op_input heed_broadcast_inputs[HEED_BROADCAST_INPUTS];

/* The shape rule. */
heed_status heed_broadcast_infer(const heed_graph *graph, heed_node *node, void *desc,
                                 heed_op_result *results, uint32_t *count, heed_error *error);
uint64_t heed_broadcast_flops(const heed_graph *graph, const heed_node *node);

/* Broadcasts `into` by `with`, each way; false where they do not fit. */
bool heed_broadcast_join(heed_shape *into, const heed_shape *with);

#endif
