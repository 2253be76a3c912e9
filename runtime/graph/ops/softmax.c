/* softmax: over the last axis, or what its input gets of a gradient. */
#include "graph/ops/softmax.h"
#include "base/status.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_softmax(heed_graph *graph, const heed_softmax_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_softmax, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  heed_softmax_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_SOFTMAX_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 1, HEED_MAX_RANK, "softmax: x", error));
  if (desc->gradient.id) {
    const heed_value_record *gradient =
        heed_op_take(graph, node, HEED_SOFTMAX_INPUT_GRADIENT, HEED_F32, error);
    if (!gradient) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(gradient, &x->shape, "softmax: gradient", error));
  }
  if (desc->factor == 0.0f) desc->factor = 1.0f;
  results[0] = (heed_op_result){HEED_F32, x->shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  return 4 * heed_op_count(graph, ((const heed_softmax_desc *)node->desc)->x);
}

static const heed_op_input inputs[HEED_SOFTMAX_INPUTS] = {
    [HEED_SOFTMAX_INPUT_X] = HEED_OP_INPUT(heed_softmax_desc, x),
    [HEED_SOFTMAX_INPUT_GRADIENT] = HEED_OP_INPUT(heed_softmax_desc, gradient),
};

const heed_op heed_op_softmax = {.name = "softmax",
                                 .desc_size = sizeof(heed_softmax_desc),
                                 .inputs = inputs,
                                 .input_count = HEED_SOFTMAX_INPUTS,
                                 .infer = infer,
                                 .flops = flops,
                                 .keeps_tokens = true,
                                 .adjoint = heed_adjoint_softmax};
