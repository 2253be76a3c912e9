/* What lstm and gru have in common: heed_recurrent_desc, whose node holds in x what the input gives
 * the gates, x weight_ih^T + bias_ih. */
#ifndef HEED_GRAPH_RECURRENT_RULE_H
#define HEED_GRAPH_RECURRENT_RULE_H

#include "graph/graph.h"

typedef struct heed_recurrent_sizes {
  uint32_t batch, tokens, hidden, gates;
} heed_recurrent_sizes;

/* Defines the input's product and the node after it. */
heed_recurrent_values heed_recurrent_define(heed_graph *graph, heed_op_kind kind,
                                            const heed_recurrent_desc *desc);
/* The shape rule; `gates` of `hidden` each. Inputs in the order x, weight_hh, bias_hh, h, c. */
heed_status heed_recurrent_infer(const heed_graph *graph, heed_node *node,
                                 const heed_recurrent_desc *desc, const char *op, uint32_t gates,
                                 heed_op_result *results, heed_error *error);
void heed_recurrent_get_sizes(const heed_graph *graph, const heed_node *node,
                              heed_recurrent_sizes *sizes);
uint64_t heed_recurrent_flops(const heed_graph *graph, const heed_node *node);

#endif
