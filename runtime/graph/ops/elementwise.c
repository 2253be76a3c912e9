/* elementwise: y = kind(a, b, c) with numpy's broadcasting and conversion of dtypes. */
#include "graph/ops/elementwise.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/broadcast_rule.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_elementwise(heed_graph *graph, const heed_elementwise_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_elementwise, desc, NULL);
}

/* How many inputs a kind has; 0: there is no such kind. */
static uint32_t count_inputs(heed_elementwise kind) {
  if ((uint32_t)kind <= HEED_ELEMENTWISE_CLIP) return 1;
  if (kind >= HEED_ELEMENTWISE_ADD && kind <= HEED_ELEMENTWISE_XOR) return 2;
  return kind == HEED_ELEMENTWISE_SELECT ? 3 : 0;
}

/* Broadcasts the shape by an input of any dtype, which becomes the node's. */
static heed_status take(const heed_graph *graph, heed_node *node, uint32_t slot, heed_shape *shape,
                        heed_error *error) {
  char what[HEED_OP_INPUT_TEXT_SIZE];
  const heed_value_record *x = heed_graph_need(graph, heed_op_input_value(node, slot),
                                               heed_op_input_text(node, slot, what), error);
  if (!x || !heed_op_take(graph, node, slot, x->dtype, error)) return HEED_INVALID_ARGUMENT;
  char found[HEED_SHAPE_TEXT_SIZE], into[HEED_SHAPE_TEXT_SIZE];
  if (!heed_broadcast_join(shape, &x->shape))
    return heed_op_refuse(error, "%s cannot be broadcast (found %s, expected axes of 1 or of %s)",
                          what, heed_shape_text(&x->shape, found), heed_shape_text(shape, into));
  return HEED_OK;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_elementwise_desc *desc = copy;
  (void)count;
  const uint32_t inputs = count_inputs(desc->kind);
  if (!inputs)
    return heed_op_refuse(error, "elementwise: unknown kind (found %d)", (int)desc->kind);
  if (desc->dtype != HEED_F32 && desc->dtype != HEED_I32 && desc->dtype != HEED_U8)
    return heed_op_refuse(error, "elementwise: wrong dtype (found %s, expected F32, I32 or U8)",
                          heed_dtype_name(desc->dtype));
  heed_shape shape = desc->shape;
  if (shape.rank > HEED_MAX_RANK)
    return heed_op_refuse(error, "elementwise: wrong shape (found %u axes, expected at most %d)",
                          shape.rank, HEED_MAX_RANK);
  for (uint32_t i = 0; i < inputs; i++) HEED_TRY(take(graph, node, i, &shape, error));
  for (uint32_t i = inputs; i < HEED_ELEMENTWISE_INPUTS; i++)
    if (heed_op_input_value(node, i).id)
      return heed_op_refuse(error, "elementwise: too many inputs (found %u, expected %u)", i + 1,
                            inputs);
  results[0] = (heed_op_result){desc->dtype, shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  return heed_op_count(graph, (heed_value){node->output[0]});
}

static const heed_op_input inputs[HEED_ELEMENTWISE_INPUTS] = {
    [HEED_ELEMENTWISE_INPUT_A] = HEED_OP_INPUT(heed_elementwise_desc, a),
    [HEED_ELEMENTWISE_INPUT_B] = HEED_OP_INPUT(heed_elementwise_desc, b),
    [HEED_ELEMENTWISE_INPUT_C] = HEED_OP_INPUT(heed_elementwise_desc, c),
};

const heed_op heed_op_elementwise = {.name = "elementwise",
                                     .desc_size = sizeof(heed_elementwise_desc),
                                     .inputs = inputs,
                                     .input_count = HEED_ELEMENTWISE_INPUTS,
                                     .infer = infer,
                                     .flops = flops};
