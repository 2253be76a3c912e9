/* layer_norm: over the last axis (Ba, Kiros & Hinton 2016). */
#include <math.h>

#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"

heed_value heed_define_layer_norm(heed_graph *graph, const heed_layer_norm_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_layer_norm, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_layer_norm_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, desc->x, HEED_F32, "layer_norm: x", error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_want_rank(x, 1, HEED_MAX_RANK, "layer_norm: x", error));
  const heed_shape width = HEED_SHAPE(heed_op_last(x));
  const heed_value_record *gain =
      heed_op_take_constant(graph, node, desc->gain, HEED_F32, "layer_norm: gain", error);
  if (!gain) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_want_shape(gain, &width, "layer_norm: gain", error));
  const heed_value_record *bias =
      heed_op_take_constant(graph, node, desc->bias, HEED_F32, "layer_norm: bias", error);
  if (!bias) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_want_shape(bias, &width, "layer_norm: bias", error));
  if (!(desc->epsilon >= 0.0f) || isinf(desc->epsilon))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "layer_norm: epsilon is off (found %g, expected 0 or more)",
                     (double)desc->epsilon);
  results[0] = (heed_op_result){HEED_F32, x->shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  return 7 * heed_op_count(graph, ((const heed_layer_norm_desc *)node->desc)->x);
}

const heed_op heed_op_layer_norm = {"layer_norm", sizeof(heed_layer_norm_desc), infer, flops, true};
