/* See random_graph.h. */
#include "graphs/random_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *op;
  maker *make;
  uint32_t since;
} ops[] = {{"Abs", make_unary, 0},
           {"Acos", make_unary, 0},
           {"Acosh", make_unary, 0},
           {"Add", make_binary, 0},
           {"And", make_binary, 0},
           {"ArgMax", make_arg, 0},
           {"ArgMin", make_arg, 0},
           {"Asin", make_unary, 0},
           {"Asinh", make_unary, 0},
           {"Atan", make_unary, 0},
           {"Atanh", make_unary, 0},
           {"Attention", make_attention, 23},
           {"AveragePool", make_pool, 0},
           {"BatchNormalization", make_channels, 0},
           {"BitwiseAnd", make_binary, 18},
           {"BitwiseNot", make_unary, 18},
           {"BitwiseOr", make_binary, 18},
           {"BitwiseXor", make_binary, 18},
           {"Cast", make_cast, 0},
           {"Ceil", make_unary, 0},
           {"Celu", make_unary, 0},
           {"Clip", make_clip, 0},
           {"Concat", make_concat, 0},
           {"ConstantOfShape", make_constant_of_shape, 0},
           {"Conv", make_conv, 0},
           {"Cos", make_unary, 0},
           {"Cosh", make_unary, 0},
           {"CumSum", make_cumsum, 0},
           {"DepthToSpace", make_depth, 0},
           {"DequantizeLinear", make_quantise, 0},
           {"Div", make_binary, 0},
           {"DynamicQuantizeLinear", make_quantise, 0},
           {"Einsum", make_einsum, 0},
           {"Elu", make_unary, 0},
           {"Equal", make_binary, 0},
           {"Erf", make_unary, 0},
           {"Exp", make_unary, 0},
           {"Expand", make_expand, 0},
           {"Flatten", make_flatten, 0},
           {"Floor", make_unary, 0},
           {"Gather", make_gather, 0},
           {"GatherElements", make_gather, 0},
           {"GatherND", make_nd, 0},
           {"Gelu", make_unary, 20},
           {"Gemm", make_gemm, 0},
           {"GlobalAveragePool", make_channels, 0},
           {"GlobalMaxPool", make_channels, 0},
           {"Greater", make_binary, 0},
           {"GreaterOrEqual", make_binary, 0},
           {"HardSigmoid", make_unary, 0},
           {"HardSwish", make_unary, 14},
           {"Hardmax", make_rows, 0},
           {"Identity", make_unary, 0},
           {"InstanceNormalization", make_channels, 0},
           {"IsInf", make_unary, 0},
           {"IsNaN", make_unary, 0},
           {"LayerNormalization", make_norm, 17},
           {"LeakyRelu", make_unary, 0},
           {"Less", make_binary, 0},
           {"LessOrEqual", make_binary, 0},
           {"Log", make_unary, 0},
           {"LogSoftmax", make_rows, 0},
           {"MatMul", make_matmul, 0},
           {"Max", make_binary, 0},
           {"MaxPool", make_pool, 0},
           {"Mean", make_binary, 0},
           {"Min", make_binary, 0},
           {"Mish", make_unary, 18},
           {"Mod", make_binary, 0},
           {"Mul", make_binary, 0},
           {"Neg", make_unary, 0},
           {"NonZero", make_non_zero, 0},
           {"Not", make_unary, 0},
           {"OneHot", make_one_hot, 0},
           {"Or", make_binary, 0},
           {"PRelu", make_binary, 0},
           {"Pad", make_pad, 0},
           {"Pow", make_binary, 0},
           {"QuantizeLinear", make_quantise, 0},
           {"RMSNormalization", make_norm, 23},
           {"Range", make_range, 0},
           {"Reciprocal", make_unary, 0},
           {"ReduceL1", make_reduce, 0},
           {"ReduceL2", make_reduce, 0},
           {"ReduceLogSum", make_reduce, 0},
           {"ReduceLogSumExp", make_reduce, 0},
           {"ReduceMax", make_reduce, 0},
           {"ReduceMean", make_reduce, 0},
           {"ReduceMin", make_reduce, 0},
           {"ReduceProd", make_reduce, 0},
           {"ReduceSum", make_reduce, 0},
           {"ReduceSumSquare", make_reduce, 0},
           {"Relu", make_unary, 0},
           {"Reshape", make_reshape, 14},
           {"Resize", make_resize, 0},
           {"Round", make_unary, 0},
           {"ScatterElements", make_gather, 0},
           {"ScatterND", make_nd, 0},
           {"Selu", make_unary, 0},
           {"Shape", make_shape, 0},
           {"Sigmoid", make_unary, 0},
           {"Sign", make_unary, 0},
           {"Sin", make_unary, 0},
           {"Sinh", make_unary, 0},
           {"Size", make_shape, 0},
           {"Slice", make_slice, 0},
           {"Softmax", make_rows, 0},
           {"Softplus", make_unary, 0},
           {"Softsign", make_unary, 0},
           {"SpaceToDepth", make_depth, 0},
           {"Split", make_split, 0},
           {"Sqrt", make_unary, 0},
           {"Squeeze", make_squeeze, 0},
           {"Sub", make_binary, 0},
           {"Sum", make_binary, 0},
           {"Swish", make_unary, 24},
           {"Tan", make_unary, 0},
           {"Tanh", make_unary, 0},
           {"ThresholdedRelu", make_unary, 0},
           {"Tile", make_expand, 0},
           {"TopK", make_topk, 0},
           {"Transpose", make_transpose, 0},
           {"Trilu", make_trilu, 14},
           {"Unsqueeze", make_squeeze, 0},
           {"Where", make_where, 0},
           {"Xor", make_binary, 0}};

static void forget_values(random_graph *g, uint32_t from) {
  while (g->value_count > from) free(g->values[--g->value_count].bytes);
}

/* Whether the evaluator takes the graph with its last node; then its outputs have their types. */
static bool settle(random_graph *g, uint32_t from) {
  heed_error error;
  graph_result result;
  memset(g->outputs, 0, sizeof g->outputs);
  for (uint32_t i = from; i < g->value_count; i++)
    g->outputs[i] = g->values[i].node == (int)g->node_count - 1;
  test_message file = random_graph_file(g, 0, NULL);
  test_bytes inputs = random_graph_inputs(g);
  bool fits = graph_run(g->context, NULL, false, &file, &inputs, &result, &error) == HEED_OK;
  for (uint32_t i = from; fits && i < g->value_count; i++) {
    graph_value *value = &g->values[i];
    if (!g->outputs[i]) continue;
    const graph_tensor *tensor = graph_result_find(&result, value->name);
    if (!tensor) abort();
    fits = tensor->rank <= 6 && tensor->size <= 8 * MOST_NUMBERS;
    if (!fits) break;
    value->type = tensor->type;
    value->rank = tensor->rank;
    memcpy(value->dims, tensor->dims, sizeof value->dims);
    value->size = tensor->size;
    value->bytes = malloc(tensor->size + 1);
    if (!value->bytes) abort();
    memcpy(value->bytes, tensor->bytes, tensor->size);
  }
  graph_result_free(&result);
  free(file.data);
  free(inputs.data);
  return fits;
}

static bool add_node(random_graph *g) {
  const uint32_t from = g->value_count, op = random_below(g, COUNT(ops));
  if (g->opset < ops[op].since || g->value_count + 16 > GRAPH_VALUES) return false;
  graph_node *node = &g->nodes[g->node_count];
  memset(node, 0, sizeof *node);
  node->op = ops[op].op;
  node->output_count = 1;
  ops[op].make(g, node);
  test_put_text(&node->body, 4, node->op);
  for (uint32_t i = 0; i < node->output_count; i++) graph_add_value(g, (int)g->node_count);
  g->node_count++;
  if (settle(g, from)) return true;
  free(node->body.data);
  g->node_count--;
  forget_values(g, from);
  return false;
}

void random_graph_make(random_graph *g, heed_context *context, uint64_t seed, uint32_t nodes) {
  static const uint32_t opsets[] = {12, 13, 17, 18, 20, 21, 23, 24};
  memset(g, 0, sizeof *g);
  g->context = context;
  g->random.state = UINT64_C(0x9E3779B97F4A7C15) * (seed + 1);
  for (int i = 0; i < 4; i++) test_random_next(&g->random);
  g->opset = opsets[random_below(g, COUNT(opsets))];
  g->special = random_one_in(g, 2) ? 0 : 1 + random_below(g, 2);
  g->empty = random_one_in(g, 8);
  g->odd = random_one_in(g, 3);
  for (int tries = 0; g->node_count < nodes && tries < 40; tries++) add_node(g);
  /* the last node's results; all of them now and then, so that nothing is joined */
  const bool all = random_one_in(g, 3);
  for (uint32_t i = 0; i < g->value_count; i++)
    g->outputs[i] = g->values[i].node >= 0 && (all || g->values[i].node == (int)g->node_count - 1);
}

void random_graph_free(random_graph *g) {
  for (uint32_t i = 0; i < g->node_count; i++) free(g->nodes[i].body.data);
  forget_values(g, 0);
}

void random_graph_ops(const random_graph *g, char *text, size_t size) {
  *text = '\0';
  for (uint32_t i = 0; i < g->node_count; i++)
    snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? ", " : "", g->nodes[i].op);
}
