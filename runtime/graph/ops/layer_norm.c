/* layer_norm: over the last axis (Ba, Kiros & Hinton 2016), or about 0 (Zhang & Sennrich 2019). */
#include <math.h>

#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "graph/ops/layer_norm.h"
#include "heed/ops.h"

heed_value heed_define_layer_norm(heed_graph *graph, const heed_layer_norm_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_layer_norm, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_layer_norm_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_LAYER_NORM_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 1, HEED_MAX_RANK, "layer_norm: x", error));
  const heed_shape width = HEED_SHAPE(heed_op_last(x));
  const heed_value_record *gain =
      heed_op_take_constant(graph, node, HEED_LAYER_NORM_INPUT_GAIN, HEED_F32, error);
  if (!gain) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_shape(gain, &width, "layer_norm: gain", error));
  if (desc->bias.id) {
    const heed_value_record *bias =
        heed_op_take_constant(graph, node, HEED_LAYER_NORM_INPUT_BIAS, HEED_F32, error);
    if (!bias) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(bias, &width, "layer_norm: bias", error));
  }
  if (desc->gradient.id) {
    const heed_value_record *gradient =
        heed_op_take(graph, node, HEED_LAYER_NORM_INPUT_GRADIENT, HEED_F32, error);
    if (!gradient) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(gradient, &x->shape, "layer_norm: gradient", error));
    if (desc->bias.id)
      return heed_op_refuse(error, "layer_norm: a bias beside a gradient (expected none)");
  }
  if (!(desc->epsilon >= 0.0f) || isinf(desc->epsilon))
    return heed_op_refuse(error, "layer_norm: invalid epsilon (found %g, expected 0 or more)",
                          (double)desc->epsilon);
  results[0] = (heed_op_result){HEED_F32, x->shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_layer_norm_desc *desc = node->desc;
  return ((desc->rms ? 5u : 7u) + (desc->gradient.id ? 6u : 0u)) * heed_op_count(graph, desc->x);
}

static const heed_op_input inputs[HEED_LAYER_NORM_INPUTS] = {
    [HEED_LAYER_NORM_INPUT_X] = HEED_OP_INPUT(heed_layer_norm_desc, x),
    [HEED_LAYER_NORM_INPUT_GAIN] = HEED_OP_INPUT(heed_layer_norm_desc, gain),
    [HEED_LAYER_NORM_INPUT_BIAS] = HEED_OP_INPUT(heed_layer_norm_desc, bias),
    [HEED_LAYER_NORM_INPUT_GRADIENT] = HEED_OP_INPUT(heed_layer_norm_desc, gradient),
};

const heed_op heed_op_layer_norm = {.name = "layer_norm",
                                    .desc_size = sizeof(heed_layer_norm_desc),
                                    .inputs = inputs,
                                    .input_count = HEED_LAYER_NORM_INPUTS,
                                    .infer = infer,
                                    .flops = flops,
                                    .keeps_tokens = true,
                                    .adjoint = heed_adjoint_layer_norm};
