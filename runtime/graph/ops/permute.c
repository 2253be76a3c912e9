/* permute: the axes of a tensor in another order, copied dense; y axis i is x axis order[i]. */
#include "graph/ops/permute.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_permute(heed_graph *graph, const heed_permute_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_permute, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_permute_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take_words(graph, node, HEED_PERMUTE_INPUT_X, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 1, HEED_MAX_RANK, "permute: x", error));
  heed_shape shape = {.rank = x->shape.rank};
  uint32_t seen = 0;
  for (uint32_t i = 0; i < shape.rank; i++) {
    if (desc->order[i] >= shape.rank || seen >> desc->order[i] & 1u)
      return heed_op_refuse(
          error,
          "permute: invalid order (found axis %u at index %u, expected each of 0 to %u once)",
          desc->order[i], i, shape.rank - 1);
    seen |= 1u << desc->order[i];
    shape.dim[i] = x->shape.dim[desc->order[i]];
  }
  results[0] = (heed_op_result){x->dtype, shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_PERMUTE_INPUTS] = {
    [HEED_PERMUTE_INPUT_X] = HEED_OP_INPUT(heed_permute_desc, x),
};

const heed_op heed_op_permute = {.name = "permute",
                                 .desc_size = sizeof(heed_permute_desc),
                                 .inputs = inputs,
                                 .input_count = HEED_PERMUTE_INPUTS,
                                 .infer = infer,
                                 .flops = flops,
                                 .adjoint = heed_adjoint_permute};
