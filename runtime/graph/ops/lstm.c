/* lstm: one layer in one direction (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et
 * al. 2000), gates i f g o. */
#include "base/status.h"
#include "graph/recurrent_rule.h"

heed_recurrent_values heed_define_lstm(heed_graph *graph, const heed_recurrent_desc *desc) {
  return heed_recurrent_define(graph, HEED_OP_KIND_lstm, desc);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  *count = 3;
  return heed_recurrent_infer(graph, node, copy, 4, results, error);
}

const heed_op heed_op_lstm = {.name = "lstm",
                              .desc_size = sizeof(heed_recurrent_desc),
                              .inputs = heed_recurrent_inputs,
                              .input_count = HEED_RECURRENT_INPUTS,
                              .infer = infer,
                              .flops = heed_recurrent_flops,
                              .keeps_tokens = true};
