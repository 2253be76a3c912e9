/* add: y = a + b, b broadcast to a's shape. */
#include "graph/broadcast_rule.h"
#include "model/case.h"

heed_value heed_define_add(heed_graph *graph, const heed_add_desc *desc) { return heed_graph_add_node(graph, HEED_OP_KIND_add, desc, NULL); }

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_add_desc desc = {sizeof desc, heed_case_input(test, "a"), heed_case_input(test, "b")};
  heed_case_result(test, "y", heed_define_add(heed_case_graph(test), &desc));
  return HEED_OK;
}

static const char *const names[] = {"add", NULL};
const heed_op heed_op_add = {"add", sizeof(heed_add_desc), heed_broadcast_infer, heed_broadcast_flops, true};
const heed_layer_case heed_case_add = {names, from_case};
