/* What lstm and gru have in common. */
#include "graph/recurrent_rule.h"

#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"

const heed_op_input heed_recurrent_inputs[HEED_RECURRENT_INPUTS] = {
    [HEED_RECURRENT_INPUT_X] = HEED_OP_INPUT(heed_recurrent_desc, x),
    [HEED_RECURRENT_INPUT_WEIGHT_HH] = HEED_OP_INPUT(heed_recurrent_desc, weight_hh),
    [HEED_RECURRENT_INPUT_BIAS_HH] = HEED_OP_INPUT(heed_recurrent_desc, bias_hh),
    [HEED_RECURRENT_INPUT_H] = HEED_OP_INPUT(heed_recurrent_desc, h),
    [HEED_RECURRENT_INPUT_C] = HEED_OP_INPUT(heed_recurrent_desc, c),
};

heed_recurrent_values heed_recurrent_define(heed_graph *graph, heed_op_kind kind,
                                            const heed_recurrent_desc *desc) {
  const heed_node *node = NULL;
  heed_recurrent_desc inner;
  if (heed_graph_read_desc(graph, &inner, sizeof inner, desc, heed_ops[kind]->name)) {
    const heed_linear_desc gates = {.struct_size = sizeof gates,
                                    .x = inner.x,
                                    .weight = inner.weight_ih,
                                    .bias = inner.bias_ih};
    inner.x = heed_define_linear(graph, &gates);
    inner.weight_ih = inner.bias_ih = (heed_value){0};
    heed_graph_add_node(graph, kind, &inner, &node);
  }
  if (!node) return (heed_recurrent_values){{0}, {0}, {0}};
  return (heed_recurrent_values){.y = {node->output[HEED_RECURRENT_RESULT_Y]},
                                 .h = {node->output[HEED_RECURRENT_RESULT_H]},
                                 .c = {node->output[HEED_RECURRENT_RESULT_C]}};
}

/* An optional state [B, H]. */
static heed_status take_state(const heed_graph *graph, heed_node *node, uint32_t slot,
                              const heed_shape *fits, heed_error *error) {
  char what[HEED_OP_INPUT_TEXT_SIZE];
  if (!heed_op_input_value(node, slot).id) return HEED_OK;
  const heed_value_record *record = heed_op_take(graph, node, slot, HEED_F32, error);
  return record ? heed_op_check_shape(record, fits, heed_op_input_text(node, slot, what), error)
                : HEED_INVALID_ARGUMENT;
}

static heed_status take_weight(const heed_graph *graph, heed_node *node, uint32_t slot,
                               const heed_shape *fits, heed_error *error) {
  char what[HEED_OP_INPUT_TEXT_SIZE];
  const heed_value_record *record = heed_op_take_constant(graph, node, slot, HEED_F32, error);
  return record ? heed_op_check_shape(record, fits, heed_op_input_text(node, slot, what), error)
                : HEED_INVALID_ARGUMENT;
}

heed_status heed_recurrent_infer(const heed_graph *graph, heed_node *node,
                                 const heed_recurrent_desc *desc, uint32_t gates,
                                 heed_op_result *results, heed_error *error) {
  char what[HEED_OP_INPUT_TEXT_SIZE];
  const heed_value_record *x = heed_op_take(graph, node, HEED_RECURRENT_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(
      heed_op_check_rank(x, 3, 3, heed_op_input_text(node, HEED_RECURRENT_INPUT_X, what), error));
  const uint32_t width = x->shape.dim[2], hidden = width / gates;
  if (width % gates != 0)
    return heed_op_refuse(
        error,
        "%s: weight_ih has a wrong number of rows (found %u, expected a multiple of %u gates)",
        heed_ops[node->op]->name, width, gates);
  const heed_shape weight = HEED_SHAPE(width, hidden), bias = HEED_SHAPE(width),
                   state = HEED_SHAPE(x->shape.dim[0], hidden);
  HEED_TRY(take_weight(graph, node, HEED_RECURRENT_INPUT_WEIGHT_HH, &weight, error));
  if (desc->bias_hh.id)
    HEED_TRY(take_weight(graph, node, HEED_RECURRENT_INPUT_BIAS_HH, &bias, error));
  HEED_TRY(take_state(graph, node, HEED_RECURRENT_INPUT_H, &state, error));
  HEED_TRY(take_state(graph, node, HEED_RECURRENT_INPUT_C, &state, error));
  results[HEED_RECURRENT_RESULT_Y] =
      (heed_op_result){HEED_F32, HEED_SHAPE(x->shape.dim[0], x->shape.dim[1], hidden)};
  results[HEED_RECURRENT_RESULT_H] = results[HEED_RECURRENT_RESULT_C] =
      (heed_op_result){HEED_F32, state};
  return HEED_OK;
}

void heed_recurrent_get_sizes(const heed_graph *graph, const heed_node *node,
                              heed_recurrent_sizes *sizes) {
  const heed_recurrent_desc *desc = node->desc;
  const uint32_t *x = heed_graph_record(graph, desc->x.id)->shape.dim,
                 *weight = heed_graph_record(graph, desc->weight_hh.id)->shape.dim;
  *sizes = (heed_recurrent_sizes){x[0], x[1], weight[1], weight[0] / weight[1]};
}

uint64_t heed_recurrent_flops(const heed_graph *graph, const heed_node *node) {
  heed_recurrent_sizes s;
  heed_recurrent_get_sizes(graph, node, &s);
  return 2 * (uint64_t)s.batch * s.tokens * s.hidden * s.hidden * s.gates;
}
