/* What lstm and gru have in common: heed_recurrent_desc, whose node holds in x what the input gives
 * the gates, x weight_ih^T + bias_ih. */
#ifndef HEED_GRAPH_RECURRENT_RULE_H
#define HEED_GRAPH_RECURRENT_RULE_H

#include "graph/graph.h"
#include "heed/ops.h"

enum heed_recurrent_input {
  HEED_RECURRENT_INPUT_X,
  HEED_RECURRENT_INPUT_WEIGHT_HH,
  HEED_RECURRENT_INPUT_BIAS_HH,
  HEED_RECURRENT_INPUT_H,
  HEED_RECURRENT_INPUT_C,
  HEED_RECURRENT_INPUTS
};
extern const heed_op_input heed_recurrent_inputs[HEED_RECURRENT_INPUTS];
enum heed_recurrent_result {
  HEED_RECURRENT_RESULT_Y,
  HEED_RECURRENT_RESULT_H,
  HEED_RECURRENT_RESULT_C
};

typedef struct heed_recurrent_sizes {
  uint32_t batch, tokens, hidden, gates;
} heed_recurrent_sizes;

/* Defines the input's product and the node after it. */
heed_recurrent_values heed_recurrent_define(heed_graph *graph, heed_op_kind kind,
                                            const heed_recurrent_desc *desc);
/* The shape rule; `gates` of `hidden` each. */
heed_status heed_recurrent_infer(const heed_graph *graph, heed_node *node,
                                 const heed_recurrent_desc *desc, uint32_t gates,
                                 heed_op_result *results, heed_error *error);
void heed_recurrent_get_sizes(const heed_graph *graph, const heed_node *node,
                              heed_recurrent_sizes *sizes);
uint64_t heed_recurrent_flops(const heed_graph *graph, const heed_node *node);

#endif
