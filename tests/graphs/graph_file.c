/* See random_graph.h. */
#include "graphs/random_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether sums and products of a few such numbers are exact in single precision. */
static bool is_plain(double number) {
  return !isfinite(number) || (fabs(number) <= 4096 && number * 1024 == floor(number * 1024));
}

double graph_largest(const graph_value *value) {
  double most = 0;
  if (!graph_type_is_float(value->type)) return 1;
  for (size_t i = 0; i < value->size / graph_type_size(value->type); i++) {
    const double size = fabs(graph_float(value->type, value->bytes, i));
    if (isfinite(size) && size > most) most = size;
  }
  return most;
}

/* Whose results are sums of products of their inputs, or come by a formula that rounds on its way.
 */
bool graph_op_is_in(const char *op, const char *list) {
  const size_t length = strlen(op);
  for (const char *at = list; (at = strstr(at, op)); at += length)
    if ((at == list || at[-1] == '|') && (at[length] == '|' || !at[length])) return true;
  return false;
}
bool graph_op_sums(const char *op) {
  return strncmp(op, "Reduce", 6) == 0 ||
         graph_op_is_in(
             op, "MatMul|Gemm|Conv|Einsum|CumSum|Sum|Mean|LayerNormalization|RMSNormalization|"
                 "BatchNormalization|InstanceNormalization|AveragePool|GlobalAveragePool|"
                 "Attention|Resize|RotaryEmbedding|ScatterElements|ScatterND");
}
static bool has_formula(const char *op) {
  return graph_op_is_in(op,
                        "Acos|Acosh|Asin|Asinh|Atan|Atanh|Celu|Cos|Cosh|Elu|Erf|Exp|Gelu|Log|"
                        "LogSoftmax|Mish|Pow|Selu|Sigmoid|Sin|Sinh|Softmax|Softplus|Sqrt|Swish|Tan|"
                        "Tanh|ReduceL2|ReduceLogSum|ReduceLogSumExp|LayerNormalization|"
                        "RMSNormalization|BatchNormalization|InstanceNormalization|Attention|"
                        "HardSwish|HardSigmoid|Resize|RotaryEmbedding|Reciprocal|Div|Softsign|"
                        "DynamicQuantizeLinear|DequantizeLinear");
}

/* What is added to a value, as large as its errors of rounding; false: nothing. */
static bool make_noise(const random_graph *g, const graph_value *value, uint64_t noise,
                       unsigned char *bytes) {
  if (!graph_type_is_float(value->type)) return false;
  const graph_node *node = &g->nodes[value->node];
  const bool formula = has_formula(node->op);
  double sum = 0;
  if (graph_op_sums(node->op)) {
    sum = 1;
    for (uint32_t i = 0; i < node->input_count; i++) {
      const double size = graph_largest(&g->values[node->inputs[i]]);
      sum *= size > 1 ? size : 1;
    }
    sum += graph_largest(value);
  }
  const double eps = value->type == F16 ? 1e-3 : 2e-6;
  test_random random = {(noise * 2654435761u + (uint64_t)(value - g->values) + 1) *
                        UINT64_C(0x9E3779B97F4A7C15)};
  for (int i = 0; i < 3; i++) test_random_next(&random);
  bool any = false;
  const size_t size = graph_type_size(value->type), count = value->size / size;
  for (size_t i = 0; i < count; i++) {
    const double number = graph_float(value->type, value->bytes, i);
    double by = 0;
    if (isfinite(number) && (formula || !is_plain(number) || sum > 4096)) {
      by = eps * (fabs(number) + 0.25 * sum + (formula ? 0.05 : 0));
      if (graph_op_is_in(node->op, "ReduceLogSum")) by += eps * sum * exp(-number);
      if (noise > 2 ? test_random_below(&random, 2) == 0 : noise == 2) by = -by;
    }
    any |= by != 0;
    const float single = (float)by;
    if (value->type == F64) memcpy(bytes + 8 * i, &by, 8);
    if (value->type == F32) memcpy(bytes + 4 * i, &single, 4);
    if (value->type == F16) {
      uint16_t bits = 0; /* 1e-3 of its size, by an exponent less */
      const int exponent = by ? ilogb(by) : -30;
      if (exponent >= -14 && exponent < 16)
        bits = (uint16_t)((exponent + 15) << 10 | (by < 0 ? 0x8000 : 0));
      memcpy(bytes + 2 * i, &bits, 2);
    }
  }
  return any;
}

static void put_value(const random_graph *g, test_message *graph, const graph_value *value) {
  if (value->initializer)
    test_put_raw(graph, value->name, value->type, value->rank, value->dims, value->bytes,
                 value->size);
  else
    test_put_typed(graph, 11, value->name, value->type, value->rank, value->dims);
  (void)g;
}

static void copy_message(test_message *to, const test_message *from) {
  *to = (test_message){malloc(from->size ? from->size : 1), from->size};
  if (!to->data) abort();
  if (from->size) memcpy(to->data, from->data, from->size);
}

test_message random_graph_file(const random_graph *g, uint64_t noise, bool *moved) {
  test_message graph = {0}, file = {0}, opset = {0};
  unsigned char *bytes = malloc(8 * 65536);
  if (!bytes) abort();
  if (moved) *moved = false;
  for (uint32_t i = 0; i < g->value_count; i++)
    if (g->values[i].node < 0) put_value(g, &graph, &g->values[i]);
  for (uint32_t n = 0; n < g->node_count; n++) {
    test_message node;
    copy_message(&node, &g->nodes[n].body);
    test_message after = {0};
    for (uint32_t i = 0; i < g->value_count; i++) {
      const graph_value *value = &g->values[i];
      if (value->node != (int)n) continue;
      char inner[16], by[16], both[40];
      snprintf(inner, sizeof inner, "%s_", value->name);
      snprintf(by, sizeof by, "%s.by", value->name);
      const bool noisy = noise && make_noise(g, value, noise, bytes);
      test_put_text(&node, 2, noisy ? inner : value->name);
      if (!noisy) continue;
      if (moved) *moved = true;
      test_put_raw(&after, by, value->type, value->rank, value->dims, bytes, value->size);
      snprintf(both, sizeof both, "%s,%s", inner, by);
      test_put_node(&after, "Add", by, both, value->name, NULL);
    }
    test_put_message(&graph, 1, &node);
    graph.data = realloc(graph.data, graph.size + after.size + 1);
    if (!graph.data) abort();
    if (after.size) memcpy(graph.data + graph.size, after.data, after.size);
    graph.size += after.size;
    free(after.data);
  }
  for (uint32_t i = 0; i < g->value_count; i++)
    if (g->outputs[i]) {
      const graph_value *value = &g->values[i];
      if (value->bytes)
        test_put_typed(&graph, 12, value->name, value->type, value->rank, value->dims);
      else { /* not known yet */
        test_message port = {0};
        test_put_text(&port, 1, value->name);
        test_put_message(&graph, 12, &port);
      }
    }
  free(bytes);
  test_put_number(&file, 1, 10);
  test_put_text(&graph, 2, "g");
  test_put_message(&file, 7, &graph);
  test_put_number(&opset, 2, g->opset);
  test_put_message(&file, 8, &opset);
  return file;
}

test_bytes random_graph_inputs(const random_graph *g) {
  char header[4096] = "{", *at = header + 1;
  size_t size = 0;
  for (uint32_t i = 0; i < g->value_count; i++) {
    const graph_value *value = &g->values[i];
    if (value->node >= 0 || value->initializer) continue;
    at += sprintf(at, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", size || at[-1] == '}' ? "," : "",
                  value->name, graph_type_name(value->type));
    for (uint32_t k = 0; k < value->rank; k++)
      at += sprintf(at, "%s%u", k ? "," : "", value->dims[k]);
    at += sprintf(at, "],\"data_offsets\":[%zu,%zu]}", size, size + value->size);
    size += value->size;
  }
  at += sprintf(at, "}");
  while ((at - header) % 8) *at++ = ' ';
  const uint64_t length = (uint64_t)(at - header);
  test_bytes bytes = {malloc(8 + length + size + 1), 8 + length + size};
  if (!bytes.data) abort();
  memcpy(bytes.data, &length, 8);
  memcpy(bytes.data + 8, header, length);
  unsigned char *to = bytes.data + 8 + length;
  for (uint32_t i = 0; i < g->value_count; i++) {
    const graph_value *value = &g->values[i];
    if (value->node >= 0 || value->initializer) continue;
    if (value->size) memcpy(to, value->bytes, value->size);
    to += value->size;
  }
  return bytes;
}
