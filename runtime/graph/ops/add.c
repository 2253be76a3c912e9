/* add: y = a + b, b broadcast to a's shape. */
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "model/case.h"

heed_value heed_define_add(heed_graph *graph, const heed_add_desc *desc) { return heed_graph_add_node(graph, HEED_OP_KIND_add, desc, NULL); }

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy, heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_add_desc *desc = copy;
  (void)count;
  const heed_value_record *a = heed_op_take(graph, node, desc->a, HEED_F32, "add: a", error);
  const heed_value_record *b = a ? heed_op_take(graph, node, desc->b, HEED_F32, "add: b", error) : NULL;
  if (!b) return HEED_INVALID_ARGUMENT;
  bool fits = b->shape.rank <= a->shape.rank;
  for (uint32_t i = 0; fits && i < b->shape.rank; i++) {
    const uint32_t have = b->shape.dim[b->shape.rank - 1 - i];
    fits = have == 1 || have == a->shape.dim[a->shape.rank - 1 - i];
  }
  char found[HEED_SHAPE_TEXT_SIZE], into[HEED_SHAPE_TEXT_SIZE];
  if (!fits)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "add: b cannot be broadcast to a (found %s, expected axes of 1 or those of %s)",
                     heed_shape_text(&b->shape, found), heed_shape_text(&a->shape, into));
  results[0] = (heed_op_result){HEED_F32, a->shape};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) { return heed_op_count(graph, ((const heed_add_desc *)node->desc)->a); }

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_add_desc desc = {sizeof desc, heed_case_input(test, "a"), heed_case_input(test, "b")};
  heed_case_result(test, "y", heed_define_add(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"add", NULL};
const heed_op heed_op_add = {"add", sizeof(heed_add_desc), infer, flops, true};
const heed_layer_case heed_case_add = {names, from_case};
