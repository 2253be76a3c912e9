/* concat: joins tensors along one axis; a leading axis of 1 is repeated (class tokens before the
 * patches of a batch). */
#include "graph/ops/concat.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"

heed_value heed_define_concat(heed_graph *graph, const heed_concat_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_concat, desc, NULL);
}

/* Folds one more part into the result's shape; false when it does not fit. */
static bool join(heed_shape *whole, const heed_shape *part, uint32_t axis) {
  if (part->rank != whole->rank) return false;
  for (uint32_t i = 0; i < whole->rank; i++) {
    if (i == axis) {
      if (whole->dim[i] > UINT32_MAX - part->dim[i]) return false;
      whole->dim[i] += part->dim[i];
    } else if (part->dim[i] != whole->dim[i]) {
      if (i != 0 || (part->dim[0] != 1 && whole->dim[0] != 1)) return false;
      if (whole->dim[0] == 1) whole->dim[0] = part->dim[0];
    }
  }
  return true;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_concat_desc *desc = copy;
  (void)count;
  if (desc->count < 2 || desc->count > HEED_CONCAT_MAX)
    return heed_op_refuse(error, "concat: wrong number of inputs (found %u, expected 2 to %d)",
                          desc->count, HEED_CONCAT_MAX);
  heed_shape whole = {0};
  heed_dtype dtype = HEED_F32;
  for (uint32_t i = 0; i < desc->count; i++) {
    const uint32_t slot = HEED_CONCAT_INPUT_X + i;
    const heed_value_record *x = i ? heed_op_take(graph, node, slot, dtype, error)
                                   : heed_op_take_words(graph, node, slot, error);
    if (!x) return HEED_INVALID_ARGUMENT;
    dtype = x->dtype;
    if (i == 0) whole = x->shape;
    char found[HEED_SHAPE_TEXT_SIZE], into[HEED_SHAPE_TEXT_SIZE];
    if (desc->axis >= x->shape.rank)
      return heed_op_refuse(error, "concat: axis out of range (found %u, expected less than %u)",
                            desc->axis, x->shape.rank);
    if (i > 0 && !join(&whole, &x->shape, desc->axis))
      return heed_op_refuse(
          error, "concat: input %u does not fit (found %s, expected %s but for axis %u)", i,
          heed_shape_text(&x->shape, found), heed_shape_text(&whole, into), desc->axis);
  }
  results[0] = (heed_op_result){dtype, whole};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_CONCAT_INPUTS] = {
    [HEED_CONCAT_INPUT_X + 0] = {"x", offsetof(heed_concat_desc, x[0])},
    [HEED_CONCAT_INPUT_X + 1] = {"x", offsetof(heed_concat_desc, x[1])},
    [HEED_CONCAT_INPUT_X + 2] = {"x", offsetof(heed_concat_desc, x[2])},
    [HEED_CONCAT_INPUT_X + 3] = {"x", offsetof(heed_concat_desc, x[3])},
};

const heed_op heed_op_concat = {.name = "concat",
                                .desc_size = sizeof(heed_concat_desc),
                                .inputs = inputs,
                                .input_count = HEED_CONCAT_INPUTS,
                                .infer = infer,
                                .flops = flops,
                                .adjoint = heed_adjoint_concat};
