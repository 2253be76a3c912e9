/* The shape rule of add and multiply, and that of both ways. */
#include "graph/broadcast_rule.h"

#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

/* heed_multiply_desc is the same type. */
const heed_op_input heed_broadcast_inputs[HEED_BROADCAST_INPUTS] = {
    [HEED_BROADCAST_INPUT_A] = HEED_OP_INPUT(heed_add_desc, a),
    [HEED_BROADCAST_INPUT_B] = HEED_OP_INPUT(heed_add_desc, b),
};

heed_status heed_broadcast_infer(const heed_graph *graph, heed_node *node, void *copy,
                                 heed_op_result *results, uint32_t *count, heed_error *error) {
  (void)copy, (void)count;
  const heed_value_record *a = heed_op_take(graph, node, HEED_BROADCAST_INPUT_A, HEED_F32, error);
  const heed_value_record *b =
      a ? heed_op_take(graph, node, HEED_BROADCAST_INPUT_B, HEED_F32, error) : NULL;
  if (!b) return HEED_INVALID_ARGUMENT;
  bool fits = b->shape.rank <= a->shape.rank;
  for (uint32_t i = 0; fits && i < b->shape.rank; i++) {
    const uint32_t have = b->shape.dim[b->shape.rank - 1 - i];
    fits = have == 1 || have == a->shape.dim[a->shape.rank - 1 - i];
  }
  char found[HEED_SHAPE_TEXT_SIZE], into[HEED_SHAPE_TEXT_SIZE];
  if (!fits)
    return heed_op_refuse(
        error, "%s: b cannot be broadcast to a (found %s, expected axes of 1 or those of %s)",
        heed_ops[node->op]->name, heed_shape_text(&b->shape, found),
        heed_shape_text(&a->shape, into));
  results[0] = (heed_op_result){HEED_F32, a->shape};
  return HEED_OK;
}

uint64_t heed_broadcast_flops(const heed_graph *graph, const heed_node *node) {
  return heed_op_count(graph, ((const heed_add_desc *)node->desc)->a);
}

bool heed_broadcast_join(heed_shape *into, const heed_shape *with) {
  heed_shape joined = {.rank = into->rank > with->rank ? into->rank : with->rank};
  for (uint32_t i = 1; i <= joined.rank; i++) {
    const uint32_t a = i <= into->rank ? into->dim[into->rank - i] : 1,
                   b = i <= with->rank ? with->dim[with->rank - i] : 1;
    if (a != b && a != 1 && b != 1) return false;
    joined.dim[joined.rank - i] = a == 1 ? b : a;
  }
  *into = joined;
  return true;
}
