/* gru: one layer in one direction (Cho et al. 2014, the variant of PyTorch and cuDNN: the reset
 * gate acts after the product), gates r z n. */
#include "base/status.h"
#include "graph/op_check.h"
#include "graph/recurrent_rule.h"

heed_recurrent_values heed_define_gru(heed_graph *graph, const heed_recurrent_desc *desc) {
  return heed_recurrent_define(graph, HEED_OP_KIND_gru, desc);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_recurrent_desc *desc = copy;
  if (desc->c.id) return heed_op_refuse(error, "gru: no cell state (found c, expected h alone)");
  *count = 2;
  return heed_recurrent_infer(graph, node, desc, 3, results, error);
}

const heed_op heed_op_gru = {.name = "gru",
                             .desc_size = sizeof(heed_recurrent_desc),
                             .inputs = heed_recurrent_inputs,
                             .input_count = HEED_RECURRENT_INPUTS,
                             .infer = infer,
                             .flops = heed_recurrent_flops,
                             .keeps_tokens = true};
