/* linear: y = activation(x weight^T + bias) + residual, token-major or written head-major. */
#include "graph/ops/linear.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_linear(heed_graph *graph, const heed_linear_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_linear, desc, NULL);
}

/* y's shape; [parts, B, H, T, D] when the heads are split. */
static heed_status result_shape(const heed_linear_desc *desc, const heed_value_record *x,
                                uint32_t width, heed_shape *shape, heed_error *error) {
  *shape = x->shape;
  if (!desc->heads) {
    if (desc->parts)
      return heed_op_refuse(error,
                            "linear: parts without heads (found parts %u, expected heads set too)",
                            desc->parts);
    shape->dim[shape->rank - 1] = width;
    return HEED_OK;
  }
  HEED_TRY(heed_op_check_rank(x, 3, 3, "linear: x with heads", error));
  const uint32_t parts = desc->parts ? desc->parts : 1;
  const uint64_t columns = (uint64_t)parts * desc->heads;
  if (width % columns != 0)
    return heed_op_refuse(
        error, "linear: heads do not divide the width (found %u columns for %u parts of %u heads)",
        width, parts, desc->heads);
  if (desc->residual.id)
    return heed_op_refuse(
        error, "linear: a residual cannot be added head-major (found both residual and heads)");
  *shape =
      HEED_SHAPE(parts, x->shape.dim[0], desc->heads, x->shape.dim[1], (uint32_t)(width / columns));
  return HEED_OK;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  heed_linear_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_LINEAR_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 1, HEED_MAX_RANK, "linear: x", error));
  const heed_value_record *weight =
      heed_op_take_constant(graph, node, HEED_LINEAR_INPUT_WEIGHT, HEED_F32, error);
  if (!weight) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(weight, 2, 2, "linear: weight", error));
  const heed_shape fits = HEED_SHAPE(weight->shape.dim[0], heed_op_last(x));
  HEED_TRY(heed_op_check_shape(weight, &fits, "linear: weight", error));
  if (desc->bias.id) {
    const heed_value_record *bias =
        heed_op_take_constant(graph, node, HEED_LINEAR_INPUT_BIAS, HEED_F32, error);
    const heed_shape width = HEED_SHAPE(weight->shape.dim[0]);
    if (!bias) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(bias, &width, "linear: bias", error));
  }
  results[0].dtype = HEED_F32;
  HEED_TRY(result_shape(desc, x, weight->shape.dim[0], &results[0].shape, error));
  if (desc->residual.id) {
    const heed_value_record *residual =
        heed_op_take(graph, node, HEED_LINEAR_INPUT_RESIDUAL, HEED_F32, error);
    if (!residual) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(residual, &results[0].shape, "linear: residual", error));
  }
  if ((unsigned)desc->activation > HEED_ACTIVATION_ELU_PLUS_ONE)
    return heed_op_refuse(error, "linear: unknown activation (found %d, expected 0 to %d)",
                          (int)desc->activation, HEED_ACTIVATION_ELU_PLUS_ONE);
  if (desc->heads && !desc->parts) desc->parts = 1;
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_linear_desc *desc = node->desc;
  return 2 * heed_op_count(graph, desc->x) *
         heed_graph_record(graph, desc->weight.id)->shape.dim[0];
}

static const heed_op_input inputs[HEED_LINEAR_INPUTS] = {
    [HEED_LINEAR_INPUT_X] = HEED_OP_INPUT(heed_linear_desc, x),
    [HEED_LINEAR_INPUT_WEIGHT] = HEED_OP_INPUT(heed_linear_desc, weight),
    [HEED_LINEAR_INPUT_BIAS] = HEED_OP_INPUT(heed_linear_desc, bias),
    [HEED_LINEAR_INPUT_RESIDUAL] = HEED_OP_INPUT(heed_linear_desc, residual),
};

const heed_op heed_op_linear = {.name = "linear",
                                .desc_size = sizeof(heed_linear_desc),
                                .inputs = inputs,
                                .input_count = HEED_LINEAR_INPUTS,
                                .infer = infer,
                                .flops = flops,
                                .keeps_tokens = true,
                                .adjoint = heed_adjoint_linear};
