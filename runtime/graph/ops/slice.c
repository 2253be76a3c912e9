/* slice: a window of a tensor by start and step along each axis; a value beyond the tensor. */
#include "graph/ops/slice.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_slice(heed_graph *graph, const heed_slice_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_slice, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_slice_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take_words(graph, node, HEED_SLICE_INPUT_X, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 1, HEED_MAX_RANK, "slice: x", error));
  if (desc->shape.rank != x->shape.rank)
    return heed_op_refuse(error, "slice: wrong number of axes of shape (found %u, expected %u)",
                          desc->shape.rank, x->shape.rank);
  for (uint32_t i = 0; i < x->shape.rank; i++) {
    const uint32_t most = 1u << 30;
    if (desc->step[i] == 0)
      return heed_op_refuse(error, "slice: step 0 (at axis %u, expected another number)", i);
    if (desc->shape.dim[i] > most || x->shape.dim[i] > most)
      return heed_op_refuse(error, "slice: axis %u too long (found %u of %u, expected at most %u)",
                            i, desc->shape.dim[i], x->shape.dim[i], most);
  }
  results[0] = (heed_op_result){x->dtype, desc->shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_SLICE_INPUTS] = {
    [HEED_SLICE_INPUT_X] = HEED_OP_INPUT(heed_slice_desc, x),
};

const heed_op heed_op_slice = {.name = "slice",
                               .desc_size = sizeof(heed_slice_desc),
                               .inputs = inputs,
                               .input_count = HEED_SLICE_INPUTS,
                               .infer = infer,
                               .flops = flops};
