/* What lstm and gru have in common. */
#include "graph/recurrent_rule.h"

#include <stdio.h>

#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"

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
  return (heed_recurrent_values){{node->output[0]}, {node->output[1]}, {node->output[2]}};
}

/* An optional state [B, H]. */
static heed_status take_state(const heed_graph *graph, heed_node *node, heed_value value,
                              const heed_shape *fits, const char *op, const char *name,
                              heed_error *error) {
  char what[32];
  if (!value.id) return HEED_OK;
  snprintf(what, sizeof what, "%s: %s", op, name);
  const heed_value_record *record = heed_op_take(graph, node, value, HEED_F32, what, error);
  return record ? heed_op_want_shape(record, fits, what, error) : HEED_INVALID_ARGUMENT;
}

heed_status heed_recurrent_infer(const heed_graph *graph, heed_node *node,
                                 const heed_recurrent_desc *desc, const char *op, uint32_t gates,
                                 heed_op_result *results, heed_error *error) {
  char what[32];
  snprintf(what, sizeof what, "%s: x", op);
  const heed_value_record *x = heed_op_take(graph, node, desc->x, HEED_F32, what, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_want_rank(x, 3, 3, what, error));
  const uint32_t width = x->shape.dim[2], hidden = width / gates;
  if (width % gates != 0)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "%s: weight_ih has a wrong number of rows (found %u, expected a multiple of %u gates)", op,
        width, gates);
  snprintf(what, sizeof what, "%s: weight_hh", op);
  const heed_value_record *weight =
      heed_op_take_constant(graph, node, desc->weight_hh, HEED_F32, what, error);
  const heed_shape weight_fits = HEED_SHAPE(width, hidden), bias_fits = HEED_SHAPE(width),
                   state = HEED_SHAPE(x->shape.dim[0], hidden);
  if (!weight) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_want_shape(weight, &weight_fits, what, error));
  if (desc->bias_hh.id) {
    snprintf(what, sizeof what, "%s: bias_hh", op);
    const heed_value_record *bias =
        heed_op_take_constant(graph, node, desc->bias_hh, HEED_F32, what, error);
    if (!bias) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_want_shape(bias, &bias_fits, what, error));
  }
  HEED_TRY(take_state(graph, node, desc->h, &state, op, "h", error));
  HEED_TRY(take_state(graph, node, desc->c, &state, op, "c", error));
  results[0] = (heed_op_result){HEED_F32, HEED_SHAPE(x->shape.dim[0], x->shape.dim[1], hidden)};
  results[1] = results[2] = (heed_op_result){HEED_F32, state};
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
