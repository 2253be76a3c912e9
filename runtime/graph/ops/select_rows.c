/* select_rows: rows [first, first + count) of axis 1. */
#include "graph/ops/select_rows.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_select_rows(heed_graph *graph, const heed_select_rows_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_select_rows, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_select_rows_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take(graph, node, HEED_SELECT_ROWS_INPUT_X, HEED_F32, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 3, 3, "select_rows: x", error));
  if (desc->count == 0 || desc->count > x->shape.dim[1] ||
      desc->first > x->shape.dim[1] - desc->count)
    return heed_op_refuse(
        error, "select_rows: rows out of range (found %u rows from %u, expected within %u)",
        desc->count, desc->first, x->shape.dim[1]);
  results[0] =
      (heed_op_result){HEED_F32, HEED_SHAPE(x->shape.dim[0], desc->count, x->shape.dim[2])};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_SELECT_ROWS_INPUTS] = {
    [HEED_SELECT_ROWS_INPUT_X] = HEED_OP_INPUT(heed_select_rows_desc, x),
};

const heed_op heed_op_select_rows = {.name = "select_rows",
                                     .desc_size = sizeof(heed_select_rows_desc),
                                     .inputs = inputs,
                                     .input_count = HEED_SELECT_ROWS_INPUTS,
                                     .infer = infer,
                                     .flops = flops,
                                     .adjoint = heed_adjoint_select_rows};
