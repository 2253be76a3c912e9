/* rotary: pairs of elements of a token are rotated by the angles of its position (Su et al. 2021,
 * RoFormer). The angles come as tables, so that one op serves every rule of positions. */
#include "graph/ops/rotary.h"

#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_rotary(heed_graph *graph, const heed_rotary_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_rotary, desc, NULL);
}

/* The tables of cosines and sines, of x's tokens from `first` on. */
static heed_status take_tables(const heed_graph *graph, heed_node *node, const uint32_t *x,
                               uint32_t first, heed_error *error) {
  const heed_value_record *cosines =
      heed_op_take_constant(graph, node, HEED_ROTARY_INPUT_COS, HEED_F32, error);
  const heed_value_record *sines =
      cosines ? heed_op_take_constant(graph, node, HEED_ROTARY_INPUT_SIN, HEED_F32, error) : NULL;
  if (!sines) return HEED_INVALID_ARGUMENT;
  const uint32_t pairs = heed_op_last(cosines), tokens = x[2] - first;
  if (pairs > x[3] / 2)
    return heed_op_refuse(error,
                          "rotary: cos exceeds the head size (found %u pairs, expected at most %u)",
                          pairs, x[3] / 2);
  const heed_shape shape =
      cosines->shape.rank == 3 ? HEED_SHAPE(x[1], tokens, pairs) : HEED_SHAPE(tokens, pairs);
  HEED_TRY(heed_op_check_shape(cosines, &shape, "rotary: cos", error));
  return heed_op_check_shape(sines, &shape, "rotary: sin", error);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_rotary_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_ROTARY_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 4, 4, "rotary: x", error));
  const uint32_t tokens = x->shape.dim[2];
  if (desc->first >= tokens)
    return heed_op_refuse(error, "rotary: first out of range (found %u, expected less than %u)",
                          desc->first, tokens);
  HEED_TRY(take_tables(graph, node, x->shape.dim, desc->first, error));
  results[0] = (heed_op_result){HEED_F32, x->shape};
  return HEED_OK;
}

/* Each element of a pair takes two products and their sum. */
static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_rotary_desc *desc = node->desc;
  const uint32_t *x = heed_graph_record(graph, desc->x.id)->shape.dim,
                 pairs = heed_op_last(heed_graph_record(graph, desc->cos.id));
  return (uint64_t)6 * x[0] * x[1] * (x[2] - desc->first) * pairs;
}

static const heed_op_input inputs[HEED_ROTARY_INPUTS] = {
    [HEED_ROTARY_INPUT_X] = HEED_OP_INPUT(heed_rotary_desc, x),
    [HEED_ROTARY_INPUT_COS] = HEED_OP_INPUT(heed_rotary_desc, cos),
    [HEED_ROTARY_INPUT_SIN] = HEED_OP_INPUT(heed_rotary_desc, sin),
};

const heed_op heed_op_rotary = {.name = "rotary",
                                .desc_size = sizeof(heed_rotary_desc),
                                .inputs = inputs,
                                .input_count = HEED_ROTARY_INPUTS,
                                .infer = infer,
                                .flops = flops,
                                .adjoint = heed_adjoint_rotary};
