/* activation: y = f(x), element by element. */
#include "graph/ops/activation.h"
#include "base/status.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_activation(heed_graph *graph, const heed_activation_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_activation, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_activation_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_ACTIVATION_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  if ((unsigned)desc->kind > HEED_ACTIVATION_ELU_PLUS_ONE)
    return heed_op_refuse(error, "activation: unknown kind (found %d, expected 0 to %d)",
                          (int)desc->kind, HEED_ACTIVATION_ELU_PLUS_ONE);
  if ((unsigned)desc->form > HEED_ACTIVATION_RATIO)
    return heed_op_refuse(error, "activation: unknown form (found %d, expected 0 to %d)",
                          (int)desc->form, HEED_ACTIVATION_RATIO);
  if (desc->form == HEED_ACTIVATION_RATIO &&
      (desc->kind == HEED_ACTIVATION_SIGMOID || desc->kind == HEED_ACTIVATION_ELU_PLUS_ONE))
    return heed_op_refuse(error,
                          "activation: f(x) / x has no limit at 0 (found kind %d, expected another "
                          "than SIGMOID and ELU_PLUS_ONE)",
                          (int)desc->kind);
  if (desc->times.id) {
    const heed_value_record *times =
        heed_op_take(graph, node, HEED_ACTIVATION_INPUT_TIMES, HEED_F32, error);
    if (!times) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(times, &x->shape, "activation: times", error));
  }
  results[0] = (heed_op_result){HEED_F32, x->shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  return heed_op_count(graph, ((const heed_activation_desc *)node->desc)->x);
}

static const heed_op_input inputs[HEED_ACTIVATION_INPUTS] = {
    [HEED_ACTIVATION_INPUT_X] = HEED_OP_INPUT(heed_activation_desc, x),
    [HEED_ACTIVATION_INPUT_TIMES] = HEED_OP_INPUT(heed_activation_desc, times),
};

const heed_op heed_op_activation = {.name = "activation",
                                    .desc_size = sizeof(heed_activation_desc),
                                    .inputs = inputs,
                                    .input_count = HEED_ACTIVATION_INPUTS,
                                    .infer = infer,
                                    .flops = flops,
                                    .keeps_tokens = true,
                                    .adjoint = heed_adjoint_activation};
