/* Nodes that compute numbers, alone or along axes. */
#include "graphs/random_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void make_unary(random_graph *g, graph_node *node) {
  const char *op = node->op;
  const uint32_t mask = graph_op_is_in(op, "Not")                 ? BIT(BOOL)
                        : graph_op_is_in(op, "BitwiseNot")        ? (uint32_t)WHOLE
                        : graph_op_is_in(op, "Identity")          ? (uint32_t)ANY
                        : graph_op_is_in(op, "Abs|Sign|Neg|Relu") ? (uint32_t)NUMBERS
                                                                  : (uint32_t)FLOATS;
  node_takes(g, node, random_pick(g, mask, 0, 6));
  if (graph_op_is_in(op, "Celu|Elu|LeakyRelu|ThresholdedRelu|HardSigmoid|Selu|Swish") &&
      random_one_in(g, 2))
    test_put_float(&node->body, "alpha", 0.25f * (float)(1 + random_below(g, 8)));
  if (graph_op_is_in(op, "HardSigmoid") && random_one_in(g, 2))
    test_put_float(&node->body, "beta", 0.25f);
  if (graph_op_is_in(op, "Gelu") && random_one_in(g, 2))
    test_put_word(&node->body, "approximate", "tanh");
  if (graph_op_is_in(op, "IsInf") && random_one_in(g, 2))
    test_put_integer(&node->body, "detect_negative", 0);
}

void make_cast(random_graph *g, graph_node *node) {
  static const uint32_t to[] = {F32, F32, I64, I32, BOOL, U8, I8, F64};
  node_takes(g, node, random_pick(g, ANY, 0, 6));
  test_put_integer(&node->body, "to", to[random_below(g, COUNT(to))]);
}

void make_clip(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, NUMBERS, 0, 6), type = g->values[x].type;
  node_takes(g, node, x);
  if (random_one_in(g, 4))
    node_leaves_out(node);
  else
    node_takes(g, node, random_value(g, type, 0, NULL));
  if (!random_one_in(g, 4)) node_takes(g, node, random_value(g, type, 0, NULL));
}

void make_binary(random_graph *g, graph_node *node) {
  const char *op = node->op;
  const uint32_t mask = graph_op_is_in(op, "And|Or|Xor")                        ? BIT(BOOL)
                        : graph_op_is_in(op, "BitwiseAnd|BitwiseOr|BitwiseXor") ? (uint32_t)WHOLE
                        : graph_op_is_in(op, "Equal")                           ? (uint32_t)ANY
                        : graph_op_is_in(op, "PRelu|Mean|Sum")                  ? (uint32_t)FLOATS
                                                                                : (uint32_t)NUMBERS;
  const uint32_t x = random_pick(g, mask, 0, 6), y = random_beside(g, x, g->values[x].type);
  const bool swap = !graph_op_is_in(op, "PRelu") && random_one_in(g, 3);
  node_takes(g, node, swap ? y : x);
  node_takes(g, node, swap ? x : y);
  if (graph_op_is_in(op, "Max|Min|Mean|Sum") && random_one_in(g, 3))
    node_takes(g, node, random_beside(g, x, g->values[x].type));
  if (graph_op_is_in(op, "Mod") && (graph_type_is_float(g->values[x].type) || random_one_in(g, 2)))
    test_put_integer(&node->body, "fmod", 1);
}

void make_where(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 0, 6), y = random_beside(g, x, g->values[x].type),
                 c = random_beside(g, random_one_in(g, 2) ? x : y, BOOL);
  node_takes(g, node, c);
  node_takes(g, node, random_one_in(g, 2) ? x : y);
  node_takes(g, node, random_one_in(g, 2) ? y : x);
}

void node_takes_axes(random_graph *g, graph_node *node, uint32_t since, uint32_t count,
                     const int64_t *axes) {
  if (g->opset >= since)
    node_takes(g, node, value_of_integers(g, count, axes));
  else if (count)
    test_put_integers(&node->body, "axes", count, axes);
}

void make_reduce(random_graph *g, graph_node *node) {
  const uint32_t x =
      random_pick(g,
                  graph_op_is_in(node->op, "ReduceL1|ReduceMax|ReduceMin|ReduceProd|ReduceSum|"
                                           "ReduceSumSquare|ReduceMean")
                      ? BIT(F32) | BIT(F16) | BIT(F64) | BIT(I32) | BIT(I64)
                      : (uint32_t)FLOATS,
                  0, 6);
  int64_t axes[GRAPH_AXES];
  const uint32_t count = random_axes(g, g->values[x].rank, axes),
                 since = graph_op_is_in(node->op, "ReduceSum") ? 13 : 18;
  node_takes(g, node, x);
  if (!random_one_in(g, 5)) node_takes_axes(g, node, since, count, axes);
  if (random_one_in(g, 2)) test_put_integer(&node->body, "keepdims", random_below(g, 2));
  if (g->opset >= since && random_one_in(g, 4))
    test_put_integer(&node->body, "noop_with_empty_axes", 1);
}

void make_arg(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, NUMBERS, 1, 6);
  node_takes(g, node, x);
  test_put_integer(&node->body, "axis", random_axis_of(g, g->values[x].rank));
  if (random_one_in(g, 2)) test_put_integer(&node->body, "keepdims", random_below(g, 2));
  if (random_one_in(g, 3)) test_put_integer(&node->body, "select_last_index", 1);
}

void make_cumsum(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, BIT(F32) | BIT(F64) | BIT(I32) | BIT(I64), 1, 6);
  const int64_t axis = random_axis_of(g, g->values[x].rank);
  node_takes(g, node, x);
  const uint32_t a = value_of_integers(g, 1, &axis);
  g->values[a].rank = 0;
  node_takes(g, node, a);
  if (random_one_in(g, 3)) test_put_integer(&node->body, "exclusive", 1);
  if (random_one_in(g, 3)) test_put_integer(&node->body, "reverse", 1);
}

void make_topk(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, NUMBERS, 1, 6), rank = g->values[x].rank;
  const int64_t axis = random_axis_of(g, rank), k = random_below(g, 4);
  node_takes(g, node, x);
  node_takes(g, node, value_of_integers(g, 1, &k));
  test_put_integer(&node->body, "axis", axis);
  if (random_one_in(g, 2)) test_put_integer(&node->body, "largest", random_below(g, 2));
  node->output_count = 2;
}

void make_rows(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, FLOATS, 1, 6);
  node_takes(g, node, x);
  if (!random_one_in(g, 3))
    test_put_integer(&node->body, "axis", random_axis_of(g, g->values[x].rank));
}

void make_norm(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, BIT(F32), 1, 6), rank = g->values[x].rank;
  uint32_t dims[GRAPH_AXES];
  memcpy(dims, g->values[x].dims, sizeof dims);
  const uint32_t axis = random_one_in(g, 3) ? random_below(g, rank) : rank - 1;
  node_takes(g, node, x);
  node_takes(g, node, random_value(g, F32, rank - axis, dims + axis));
  if (graph_op_is_in(node->op, "LayerNormalization") && !random_one_in(g, 3))
    node_takes(g, node, random_value(g, F32, rank - axis, dims + axis));
  if (axis != rank - 1 || random_one_in(g, 2)) test_put_integer(&node->body, "axis", axis);
  if (random_one_in(g, 2)) test_put_float(&node->body, "epsilon", 1e-2f);
}

void make_channels(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, BIT(F32), 2, 5);
  const uint32_t channels = g->values[x].dims[1];
  node_takes(g, node, x);
  if (graph_op_is_in(node->op, "GlobalAveragePool|GlobalMaxPool")) return;
  for (int i = 0; i < (graph_op_is_in(node->op, "BatchNormalization") ? 4 : 2); i++) {
    const uint32_t one = random_value(g, F32, 1, &channels);
    node_takes(g, node, one);
    for (uint32_t k = 0; i == 3 && k < channels; k++) { /* a variance */
      float number;
      memcpy(&number, g->values[one].bytes + 4 * k, 4);
      number = fabsf(number) + 0.5f;
      memcpy(g->values[one].bytes + 4 * k, &number, 4);
    }
  }
}

void make_non_zero(random_graph *g, graph_node *node) {
  node_takes(g, node, random_pick(g, ANY, 1, 4));
}

void make_quantise(random_graph *g, graph_node *node) {
  const bool back = graph_op_is_in(node->op, "DequantizeLinear");
  const uint32_t x =
      back ? random_pick(g, BIT(U8) | BIT(I8), 0, 4) : random_pick(g, BIT(F32), 0, 4);
  node_takes(g, node, x);
  if (graph_op_is_in(node->op, "DynamicQuantizeLinear")) {
    node->output_count = 3;
    return;
  }
  const uint32_t type = back ? g->values[x].type : random_one_in(g, 2) ? U8 : I8;
  const uint32_t scale = random_value(g, F32, 0, NULL);
  const float number = 0.25f * (float)(1 + random_below(g, 8));
  memcpy(g->values[scale].bytes, &number, 4);
  node_takes(g, node, scale);
  if (!random_one_in(g, 3)) node_takes(g, node, random_value(g, type, 0, NULL));
}
