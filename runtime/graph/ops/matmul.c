/* matmul: y = a b over the last two axes, the leading ones broadcast. */
#include "graph/ops/matmul.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/broadcast_rule.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_matmul(heed_graph *graph, const heed_matmul_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_matmul, desc, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_matmul_desc *desc = copy;
  (void)count;
  const heed_value_record *a = heed_op_take(graph, node, HEED_MATMUL_INPUT_A, HEED_F32, error);
  const heed_value_record *b =
      a ? heed_op_take(graph, node, HEED_MATMUL_INPUT_B, HEED_F32, error) : NULL;
  if (!b) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(a, 2, HEED_MAX_RANK, "matmul: a", error));
  HEED_TRY(heed_op_check_rank(b, 2, HEED_MAX_RANK, "matmul: b", error));
  heed_shape x = a->shape, y = b->shape;
  x.rank -= 2;
  y.rank -= 2;
  const uint32_t *last = a->shape.dim + x.rank, *first = b->shape.dim + y.rank;
  char found[HEED_SHAPE_TEXT_SIZE], other[HEED_SHAPE_TEXT_SIZE];
  if (last[!desc->transpose_a] != first[desc->transpose_b] || !heed_broadcast_join(&x, &y))
    return heed_op_refuse(error, "matmul: factors do not fit (found %s and %s, expected %s)",
                          heed_shape_text(&a->shape, found), heed_shape_text(&b->shape, other),
                          desc->transpose_a   ? desc->transpose_b ? "[..., K, M] and [..., N, K]"
                                                                  : "[..., K, M] and [..., K, N]"
                          : desc->transpose_b ? "[..., M, K] and [..., N, K]"
                                              : "[..., M, K] and [..., K, N]");
  x.dim[x.rank++] = last[desc->transpose_a];
  x.dim[x.rank++] = first[!desc->transpose_b];
  results[0] = (heed_op_result){HEED_F32, x};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_matmul_desc *desc = node->desc;
  const heed_shape *a = &heed_graph_record(graph, desc->a.id)->shape;
  return 2 * (uint64_t)a->dim[a->rank - (desc->transpose_a ? 2 : 1)] *
         heed_op_count(graph, (heed_value){node->output[0]});
}

static const heed_op_input inputs[HEED_MATMUL_INPUTS] = {
    [HEED_MATMUL_INPUT_A] = HEED_OP_INPUT(heed_matmul_desc, a),
    [HEED_MATMUL_INPUT_B] = HEED_OP_INPUT(heed_matmul_desc, b),
};

const heed_op heed_op_matmul = {.name = "matmul",
                                .desc_size = sizeof(heed_matmul_desc),
                                .inputs = inputs,
                                .input_count = HEED_MATMUL_INPUTS,
                                .infer = infer,
                                .flops = flops};
