/* reduce: sums, extrema and their like over any axes. */
#include "graph/ops/reduce.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_reduce(heed_graph *graph, const heed_reduce_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_reduce, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  heed_reduce_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_REDUCE_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  if ((uint32_t)desc->kind > HEED_REDUCE_ARGMIN)
    return heed_op_refuse(error, "reduce: unknown kind (found %d)", (int)desc->kind);
  const uint32_t all = (1u << x->shape.rank) - 1;
  if (desc->axes > all)
    return heed_op_refuse(error, "reduce: axes out of range (found bits %#x, expected within %#x)",
                          desc->axes, all);
  if (!desc->axes) desc->axes = all;
  const bool index = desc->kind >= HEED_REDUCE_ARGMAX;
  if (index && (!desc->axes || (desc->axes & (desc->axes - 1))))
    return heed_op_refuse(error, "reduce: an index is of one axis (found bits %#x of axes)",
                          desc->axes);
  heed_shape shape = {0};
  for (uint32_t i = 0; i < x->shape.rank; i++) {
    const bool gone = desc->axes >> i & 1u;
    if (!gone || desc->keep_axes) shape.dim[shape.rank++] = gone ? 1 : x->shape.dim[i];
  }
  results[0] = (heed_op_result){index ? HEED_I32 : HEED_F32, shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  return heed_op_count(graph, ((const heed_reduce_desc *)node->desc)->x);
}

static const heed_op_input inputs[HEED_REDUCE_INPUTS] = {
    [HEED_REDUCE_INPUT_X] = HEED_OP_INPUT(heed_reduce_desc, x),
};

const heed_op heed_op_reduce = {.name = "reduce",
                                .desc_size = sizeof(heed_reduce_desc),
                                .inputs = inputs,
                                .input_count = HEED_REDUCE_INPUTS,
                                .infer = infer,
                                .flops = flops};
