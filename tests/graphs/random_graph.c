/* See random_graph.h. */
#include "graphs/random_graph.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define MOST_NUMBERS 256

enum { F32 = 1, U8, I8, U16, I16, I32, I64, BOOL = 9, F16, F64, U32, U64 };
#define BIT(type) (1u << (type))
#define FLOATS (BIT(F32) | BIT(F16) | BIT(F64))
#define SIGNED (BIT(I8) | BIT(I32) | BIT(I64))
#define WHOLE (SIGNED | BIT(U8))
#define NUMBERS (FLOATS | WHOLE)
#define ANY (NUMBERS | BIT(BOOL))

static const struct {
  const char *name;
  uint32_t type, size;
} types[] = {{"F32", F32, 4}, {"U8", U8, 1},   {"I8", I8, 1},   {"U16", U16, 2},
             {"I16", I16, 2}, {"I32", I32, 4}, {"I64", I64, 8}, {"BOOL", BOOL, 1},
             {"F16", F16, 2}, {"F64", F64, 8}, {"U32", U32, 4}, {"U64", U64, 8}};

uint32_t graph_type_size(uint32_t type) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].type == type) return types[i].size;
  abort();
}

static const char *type_name(uint32_t type) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].type == type) return types[i].name;
  abort();
}

bool graph_type_is_float(uint32_t type) { return type == F32 || type == F16 || type == F64; }

static double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (double)(fraction ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

double graph_float(uint32_t type, const unsigned char *bytes, size_t index) {
  float single;
  double wide;
  uint16_t bits;
  if (type == F32) {
    memcpy(&single, bytes + 4 * index, 4);
    return (double)single;
  }
  if (type == F64) {
    memcpy(&wide, bytes + 8 * index, 8);
    return wide;
  }
  memcpy(&bits, bytes + 2 * index, 2);
  return half(bits);
}

static uint32_t below(random_graph *g, uint32_t bound) {
  return test_random_below(&g->random, bound);
}
static bool one_in(random_graph *g, uint32_t bound) { return below(g, bound) == 0; }

/* ------------------------------------------------------------------------------------- results */

static bool parse_tensor(const char **at, const char *end, graph_tensor *tensor, size_t *from) {
  char dtype[8];
  unsigned long first, last;
  int used = 0;
  memset(tensor, 0, sizeof *tensor);
  if (sscanf(*at, "\"%7[^\"]\":{\"dtype\":\"%7[^\"]\",\"shape\":[%n", tensor->name, dtype, &used) !=
          2 ||
      !used)
    return false;
  *at += used;
  while (**at != ']' && *at < end) {
    if (tensor->rank == GRAPH_AXES) return false;
    tensor->dims[tensor->rank++] = (uint32_t)strtoul(*at, (char **)at, 10);
    if (**at == ',') ++*at;
  }
  used = 0;
  if (sscanf(*at, "],\"data_offsets\":[%lu,%lu]}%n", &first, &last, &used) != 2 || !used)
    return false;
  *at += used;
  for (size_t i = 0; i < COUNT(types); i++)
    if (strcmp(types[i].name, dtype) == 0) tensor->type = types[i].type;
  *from = first;
  tensor->size = last - first;
  return tensor->type != 0;
}

/* The header is heed's own: its keys have this order. */
static bool parse(graph_result *result) {
  uint64_t length;
  memcpy(&length, result->file, sizeof length);
  if (length > result->size - 8) return false;
  char *header = calloc(length + 1, 1);
  if (!header) abort();
  memcpy(header, result->file + 8, length);
  const char *at = header, *end = header + length;
  bool fine = *at == '{';
  at++;
  if (strncmp(at, "\"__metadata__\":{", 16) == 0) at = strchr(at, '}') + 2;
  result->count = 0;
  while (fine && at < end && *at == '"') {
    size_t from = 0;
    graph_tensor *tensor = &result->tensors[result->count];
    fine = result->count < GRAPH_VALUES && parse_tensor(&at, end, tensor, &from);
    if (fine) tensor->bytes = result->file + 8 + length + from;
    result->count += fine;
    if (*at == ',') at++;
  }
  if (!fine) fprintf(stderr, "a header that cannot be read: %s\n", header);
  free(header);
  return fine;
}

heed_status graph_run(heed_context *context, heed_backend *backend, bool parts,
                      const test_message *file, const test_bytes *inputs, graph_result *result,
                      heed_error *error) {
  const heed_onnx_desc desc = {sizeof desc, test_source(file->data, file->size), "g.onnx", NULL,
                               NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = test_source(inputs->data, inputs->size),
                                       .most_elements = 1u << 16,
                                       .most_steps = 1u << 22,
                                       .backend = backend,
                                       .parts = parts};
  heed_onnx *onnx;
  heed_onnx_result *made;
  memset(result, 0, sizeof *result);
  heed_status status = heed_onnx_open(context, &desc, &onnx, error);
  if (status == HEED_OK) {
    status = heed_onnx_evaluate(onnx, &how, &made, error);
    if (status == HEED_OK) {
      const heed_source source = heed_onnx_result_source(made);
      result->size = (size_t)source.size;
      result->file = malloc(result->size);
      if (!result->file ||
          source.read(source.user, 0, result->file, result->size, error) != HEED_OK ||
          !parse(result))
        abort();
      heed_onnx_result_destroy(made);
    }
    heed_onnx_destroy(onnx);
  }
  if (status != HEED_OK && status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED &&
      status != HEED_OUT_OF_MEMORY) {
    fprintf(stderr, "%s: %s\n", heed_status_name(status), error->message);
    abort();
  }
  return status;
}

void graph_result_free(graph_result *result) {
  free(result->file);
  result->file = NULL;
}

const graph_tensor *graph_result_find(const graph_result *result, const char *name) {
  for (uint32_t i = 0; i < result->count; i++)
    if (strcmp(result->tensors[i].name, name) == 0) return &result->tensors[i];
  return NULL;
}

/* ------------------------------------------------------------------------------------ the file */

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
                  value->name, type_name(value->type));
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

/* -------------------------------------------------------------------------------------- values */

static float random_float(random_graph *g) {
  static const float first[] = {NAN, INFINITY, -INFINITY, -0.0f},
                     ends[] = {FLT_MAX, -FLT_MAX, 1e-40f, FLT_MIN, 1e10f,
                               1e-10f,  -1e10f,   1e20f,  16777216};
  if (g->special && one_in(g, 10)) return first[below(g, COUNT(first))];
  if (g->special > 1 && one_in(g, 10)) return ends[below(g, COUNT(ends))];
  if (g->odd) return test_random_uniform(&g->random, -3, 3);
  return 0.5f * (float)below(g, 13) - 3;
}

static void put_number(random_graph *g, uint32_t type, unsigned char *to) {
  if (type == F32 || type == F64) {
    const float number = random_float(g);
    const double wide = (double)number;
    memcpy(to, type == F32 ? (const void *)&number : &wide, type == F32 ? 4 : 8);
    return;
  }
  if (type == F16) {
    static const uint16_t halves[] = {0,      0x8000, 0x3800, 0xB800, 0x3C00,
                                      0xBC00, 0x4000, 0xC200, 0x3E00};
    static const uint16_t ends[] = {0x7C00, 0xFC00, 0x7E00, 0x7BFF, 0x0001};
    const uint16_t bits = g->special && one_in(g, 8) ? ends[below(g, g->special > 1 ? 5 : 3)]
                                                     : halves[below(g, COUNT(halves))];
    memcpy(to, &bits, 2);
    return;
  }
  static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN, 127, -128, 255};
  int64_t number = type == BOOL                ? (int64_t)below(g, 2)
                   : type == U8 || type == U64 ? (int64_t)below(g, 8)
                                               : (int64_t)below(g, 12) - 4;
  if (g->special > 1 && type != BOOL && one_in(g, 12)) number = ends[below(g, COUNT(ends))];
  memcpy(to, &number, graph_type_size(type));
}

/* Room for a value; no type yet. */
static uint32_t add_value(random_graph *g, int node) {
  if (g->value_count == GRAPH_VALUES) abort();
  graph_value *value = &g->values[g->value_count];
  memset(value, 0, sizeof *value);
  value->node = node;
  snprintf(value->name, sizeof value->name, "%c%u", node < 0 ? 'i' : 'v', g->value_count);
  return g->value_count++;
}

static size_t count_of(uint32_t rank, const uint32_t *dims) {
  size_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  return count;
}

static uint32_t fresh(random_graph *g, uint32_t type, uint32_t rank, const uint32_t *dims) {
  const uint32_t index = add_value(g, -1);
  graph_value *value = &g->values[index];
  value->type = type;
  value->rank = rank;
  if (rank) memcpy(value->dims, dims, rank * sizeof *dims);
  const size_t count = count_of(rank, dims), size = graph_type_size(type);
  value->size = count * size;
  value->bytes = calloc(count + 1, size);
  if (!value->bytes) abort();
  for (size_t i = 0; i < count; i++) put_number(g, type, value->bytes + i * size);
  value->initializer = one_in(g, 3);
  return index;
}

static uint32_t numbers(random_graph *g, uint32_t count, const int64_t *list) {
  const uint32_t index = add_value(g, -1);
  graph_value *value = &g->values[index];
  value->type = I64;
  value->rank = 1;
  value->dims[0] = count;
  value->size = 8 * (size_t)count;
  value->bytes = calloc(count + 1, 8);
  if (!value->bytes) abort();
  if (count) memcpy(value->bytes, list, value->size);
  value->initializer = true;
  return index;
}

static uint32_t random_type(random_graph *g, uint32_t mask) {
  static const uint32_t often[] = {F32, F32, F32, F32, F32, F32, F32, F32,  F32, F32,
                                   F32, I64, I64, I32, U8,  I8,  F16, BOOL, F64};
  for (;;) {
    const uint32_t type = often[below(g, COUNT(often))];
    if (mask & BIT(type)) return type;
  }
}

static uint32_t random_axis(random_graph *g) {
  return g->empty && one_in(g, 8) ? 0 : 1 + below(g, 4);
}

static uint32_t random_shape(random_graph *g, uint32_t least, uint32_t most, uint32_t *dims) {
  const uint32_t rank = least + below(g, most - least + 1);
  for (uint32_t i = 0; i < rank; i++) {
    dims[i] = random_axis(g);
    if (count_of(i + 1, dims) > MOST_NUMBERS) dims[i] = 1;
  }
  return rank;
}

/* A value of one of these types and of a rank in the range: the last computed one in most cases. */
static uint32_t pick(random_graph *g, uint32_t mask, uint32_t least, uint32_t most) {
  uint32_t dims[GRAPH_AXES], found[GRAPH_VALUES], count = 0;
  for (uint32_t i = g->value_count; i-- > 0;) {
    const graph_value *value = &g->values[i];
    if ((mask & BIT(value->type)) && value->rank >= least && value->rank <= most &&
        value->node >= -1 && value->bytes && (value->node >= 0 || !value->initializer))
      found[count++] = i;
  }
  if (count && !one_in(g, 6)) return found[one_in(g, 2) ? below(g, count) : 0];
  const uint32_t rank = random_shape(g, least, most, dims);
  return fresh(g, random_type(g, mask), rank, dims);
}

/* A value of that type whose shape broadcasts with this one's, in most cases. */
static uint32_t beside(random_graph *g, uint32_t index, uint32_t type) {
  const graph_value *value = &g->values[index];
  uint32_t dims[GRAPH_AXES], rank = value->rank;
  if (type == value->type && one_in(g, 8)) return index;
  memcpy(dims, value->dims, sizeof dims);
  const uint32_t way = below(g, 6);
  if (way == 0) rank = 0;
  if (way == 1 && rank) { /* fewer axes */
    const uint32_t drop = below(g, rank + 1);
    rank -= drop;
    memmove(dims, dims + drop, rank * sizeof *dims);
  }
  for (uint32_t i = 0; i < rank; i++)
    if ((way == 2 || way == 3) && one_in(g, 2)) dims[i] = 1;
  if (way == 3 && rank < 6 && count_of(rank, dims) < 100) { /* more axes */
    memmove(dims + 1, dims, rank * sizeof *dims);
    dims[0] = 1 + below(g, 2);
    rank++;
  }
  return fresh(g, type, rank, dims);
}

/* --------------------------------------------------------------------------------------- nodes */

static void takes(random_graph *g, graph_node *node, uint32_t index) {
  if (node->input_count == GRAPH_INPUTS) abort();
  node->inputs[node->input_count++] = index;
  test_put_text(&node->body, 1, g->values[index].name);
}
static void leaves_out(graph_node *node) { test_put_text(&node->body, 1, ""); }

static int64_t axis_of(random_graph *g, uint32_t rank) {
  if (!rank) return one_in(g, 2) ? 0 : -1;
  return one_in(g, 30) ? (int64_t)rank : (int64_t)below(g, 2 * rank) - (int64_t)rank;
}

static uint32_t some_axes(random_graph *g, uint32_t rank, int64_t *axes) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank; i++)
    if (one_in(g, 2)) axes[count++] = one_in(g, 3) ? (int64_t)i - (int64_t)rank : (int64_t)i;
  return count;
}

typedef void maker(random_graph *g, graph_node *node);

static void make_unary(random_graph *g, graph_node *node) {
  const char *op = node->op;
  const uint32_t mask = graph_op_is_in(op, "Not")                 ? BIT(BOOL)
                        : graph_op_is_in(op, "BitwiseNot")        ? (uint32_t)WHOLE
                        : graph_op_is_in(op, "Identity")          ? (uint32_t)ANY
                        : graph_op_is_in(op, "Abs|Sign|Neg|Relu") ? (uint32_t)NUMBERS
                                                                  : (uint32_t)FLOATS;
  takes(g, node, pick(g, mask, 0, 6));
  if (graph_op_is_in(op, "Celu|Elu|LeakyRelu|ThresholdedRelu|HardSigmoid|Selu|Swish") &&
      one_in(g, 2))
    test_put_float(&node->body, "alpha", 0.25f * (float)(1 + below(g, 8)));
  if (graph_op_is_in(op, "HardSigmoid") && one_in(g, 2)) test_put_float(&node->body, "beta", 0.25f);
  if (graph_op_is_in(op, "Gelu") && one_in(g, 2)) test_put_word(&node->body, "approximate", "tanh");
  if (graph_op_is_in(op, "IsInf") && one_in(g, 2))
    test_put_integer(&node->body, "detect_negative", 0);
}

static void make_cast(random_graph *g, graph_node *node) {
  static const uint32_t to[] = {F32, F32, I64, I32, BOOL, U8, I8, F64};
  takes(g, node, pick(g, ANY, 0, 6));
  test_put_integer(&node->body, "to", to[below(g, COUNT(to))]);
}

static void make_clip(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, NUMBERS, 0, 6), type = g->values[x].type;
  takes(g, node, x);
  if (one_in(g, 4))
    leaves_out(node);
  else
    takes(g, node, fresh(g, type, 0, NULL));
  if (!one_in(g, 4)) takes(g, node, fresh(g, type, 0, NULL));
}

static void make_binary(random_graph *g, graph_node *node) {
  const char *op = node->op;
  const uint32_t mask = graph_op_is_in(op, "And|Or|Xor")                        ? BIT(BOOL)
                        : graph_op_is_in(op, "BitwiseAnd|BitwiseOr|BitwiseXor") ? (uint32_t)WHOLE
                        : graph_op_is_in(op, "Equal")                           ? (uint32_t)ANY
                        : graph_op_is_in(op, "PRelu|Mean|Sum")                  ? (uint32_t)FLOATS
                                                                                : (uint32_t)NUMBERS;
  const uint32_t x = pick(g, mask, 0, 6), y = beside(g, x, g->values[x].type);
  const bool swap = !graph_op_is_in(op, "PRelu") && one_in(g, 3);
  takes(g, node, swap ? y : x);
  takes(g, node, swap ? x : y);
  if (graph_op_is_in(op, "Max|Min|Mean|Sum") && one_in(g, 3))
    takes(g, node, beside(g, x, g->values[x].type));
  if (graph_op_is_in(op, "Mod") && (graph_type_is_float(g->values[x].type) || one_in(g, 2)))
    test_put_integer(&node->body, "fmod", 1);
}

static void make_where(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 0, 6), y = beside(g, x, g->values[x].type),
                 c = beside(g, one_in(g, 2) ? x : y, BOOL);
  takes(g, node, c);
  takes(g, node, one_in(g, 2) ? x : y);
  takes(g, node, one_in(g, 2) ? y : x);
}

/* Axes as an attribute, or as an input since the version. */
static void put_axes(random_graph *g, graph_node *node, uint32_t since, uint32_t count,
                     const int64_t *axes) {
  if (g->opset >= since)
    takes(g, node, numbers(g, count, axes));
  else if (count)
    test_put_integers(&node->body, "axes", count, axes);
}

static void make_reduce(random_graph *g, graph_node *node) {
  const uint32_t x =
      pick(g,
           graph_op_is_in(node->op, "ReduceL1|ReduceMax|ReduceMin|ReduceProd|ReduceSum|"
                                    "ReduceSumSquare|ReduceMean")
               ? BIT(F32) | BIT(F16) | BIT(F64) | BIT(I32) | BIT(I64)
               : (uint32_t)FLOATS,
           0, 6);
  int64_t axes[GRAPH_AXES];
  const uint32_t count = some_axes(g, g->values[x].rank, axes),
                 since = graph_op_is_in(node->op, "ReduceSum") ? 13 : 18;
  takes(g, node, x);
  if (!one_in(g, 5)) put_axes(g, node, since, count, axes);
  if (one_in(g, 2)) test_put_integer(&node->body, "keepdims", below(g, 2));
  if (g->opset >= since && one_in(g, 4)) test_put_integer(&node->body, "noop_with_empty_axes", 1);
}

static void make_arg(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, NUMBERS, 1, 6);
  takes(g, node, x);
  test_put_integer(&node->body, "axis", axis_of(g, g->values[x].rank));
  if (one_in(g, 2)) test_put_integer(&node->body, "keepdims", below(g, 2));
  if (one_in(g, 3)) test_put_integer(&node->body, "select_last_index", 1);
}

static void make_cumsum(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, BIT(F32) | BIT(F64) | BIT(I32) | BIT(I64), 1, 6);
  const int64_t axis = axis_of(g, g->values[x].rank);
  takes(g, node, x);
  const uint32_t a = numbers(g, 1, &axis);
  g->values[a].rank = 0;
  takes(g, node, a);
  if (one_in(g, 3)) test_put_integer(&node->body, "exclusive", 1);
  if (one_in(g, 3)) test_put_integer(&node->body, "reverse", 1);
}

static void make_topk(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, NUMBERS, 1, 6), rank = g->values[x].rank;
  const int64_t axis = axis_of(g, rank), k = below(g, 4);
  takes(g, node, x);
  takes(g, node, numbers(g, 1, &k));
  test_put_integer(&node->body, "axis", axis);
  if (one_in(g, 2)) test_put_integer(&node->body, "largest", below(g, 2));
  node->output_count = 2;
}

static void make_rows(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, FLOATS, 1, 6);
  takes(g, node, x);
  if (!one_in(g, 3)) test_put_integer(&node->body, "axis", axis_of(g, g->values[x].rank));
}

static void make_norm(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, BIT(F32), 1, 6), rank = g->values[x].rank;
  uint32_t dims[GRAPH_AXES];
  memcpy(dims, g->values[x].dims, sizeof dims);
  const uint32_t axis = one_in(g, 3) ? below(g, rank) : rank - 1;
  takes(g, node, x);
  takes(g, node, fresh(g, F32, rank - axis, dims + axis));
  if (graph_op_is_in(node->op, "LayerNormalization") && !one_in(g, 3))
    takes(g, node, fresh(g, F32, rank - axis, dims + axis));
  if (axis != rank - 1 || one_in(g, 2)) test_put_integer(&node->body, "axis", axis);
  if (one_in(g, 2)) test_put_float(&node->body, "epsilon", 1e-2f);
}

static void make_channels(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, BIT(F32), 2, 5);
  const uint32_t channels = g->values[x].dims[1];
  takes(g, node, x);
  if (graph_op_is_in(node->op, "GlobalAveragePool|GlobalMaxPool")) return;
  for (int i = 0; i < (graph_op_is_in(node->op, "BatchNormalization") ? 4 : 2); i++) {
    const uint32_t one = fresh(g, F32, 1, &channels);
    takes(g, node, one);
    for (uint32_t k = 0; i == 3 && k < channels; k++) { /* a variance */
      float number;
      memcpy(&number, g->values[one].bytes + 4 * k, 4);
      number = fabsf(number) + 0.5f;
      memcpy(g->values[one].bytes + 4 * k, &number, 4);
    }
  }
}

static void make_transpose(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 0, 6), rank = g->values[x].rank;
  int64_t perm[GRAPH_AXES];
  takes(g, node, x);
  if (rank == 0 || one_in(g, 4)) return;
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  for (uint32_t i = rank; i > 1; i--) {
    const uint32_t k = below(g, i);
    const int64_t kept = perm[k];
    perm[k] = perm[i - 1];
    perm[i - 1] = kept;
  }
  test_put_integers(&node->body, "perm", rank, perm);
}

static void make_reshape(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 0, 6);
  int64_t sizes[GRAPH_AXES];
  uint32_t count = 0, left = (uint32_t)count_of(g->values[x].rank, g->values[x].dims);
  takes(g, node, x);
  while (count < 5 && left > 1) {
    uint32_t part = 1 + below(g, left < 6 ? left : 6);
    while (left % part) part--;
    sizes[count++] = part;
    left /= part;
    if (one_in(g, 4)) break;
  }
  if (left != 1 || one_in(g, 4)) sizes[count++] = one_in(g, 2) ? -1 : (int64_t)left;
  if (count && one_in(g, 4)) sizes[below(g, count)] = 0;
  takes(g, node, numbers(g, count, sizes));
  if (one_in(g, 6)) test_put_integer(&node->body, "allowzero", 1);
}

static void make_flatten(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 0, 6);
  takes(g, node, x);
  if (!one_in(g, 3)) test_put_integer(&node->body, "axis", axis_of(g, g->values[x].rank));
}

static void make_squeeze(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 0, 6), rank = g->values[x].rank;
  int64_t axes[GRAPH_AXES];
  uint32_t count = 0;
  const bool adds = graph_op_is_in(node->op, "Unsqueeze");
  takes(g, node, x);
  if (adds) {
    if (rank > 4) return;
    count = 1 + below(g, 2);
    axes[0] = below(g, rank + 1);
    axes[1] = one_in(g, 2) ? -1 : axes[0] + 1;
  } else {
    for (uint32_t i = 0; i < rank; i++)
      if (g->values[x].dims[i] == 1 && one_in(g, 2)) axes[count++] = i;
    if (!count && one_in(g, 2)) return;
  }
  put_axes(g, node, 13, count, axes);
}

static void make_concat(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 1, 6), rank = g->values[x].rank, more = below(g, 4);
  const int64_t axis = axis_of(g, rank);
  uint32_t dims[GRAPH_AXES];
  memcpy(dims, g->values[x].dims, sizeof dims);
  const uint32_t at = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis) % rank,
                 first = below(g, more + 1), type = g->values[x].type;
  for (uint32_t i = 0; i <= more; i++) {
    dims[at] = random_axis(g);
    takes(g, node, i == first ? x : one_in(g, 5) ? x : fresh(g, type, rank, dims));
  }
  test_put_integer(&node->body, "axis", axis);
}

static void make_split(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 1, 6), rank = g->values[x].rank, count = 1 + below(g, 3);
  const int64_t axis = axis_of(g, rank);
  const uint32_t at = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis) % rank;
  int64_t parts[3] = {0};
  uint32_t left = g->values[x].dims[at];
  takes(g, node, x);
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = i + 1 == count ? left : below(g, left + 1);
    left -= (uint32_t)parts[i];
  }
  if (g->opset < 13)
    test_put_integers(&node->body, "split", count, parts);
  else if (g->opset >= 18 && one_in(g, 2))
    test_put_integer(&node->body, "num_outputs", count);
  else
    takes(g, node, numbers(g, count, parts));
  test_put_integer(&node->body, "axis", axis);
  node->output_count = count;
}

static void make_slice(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 1, 6);
  int64_t axes[GRAPH_AXES], starts[GRAPH_AXES], ends[GRAPH_AXES], steps[GRAPH_AXES];
  const uint32_t count = some_axes(g, g->values[x].rank, axes);
  static const int64_t far[] = {INT64_MAX, INT64_MIN, INT32_MAX, -100};
  takes(g, node, x);
  for (uint32_t i = 0; i < count; i++) {
    starts[i] = one_in(g, 8) ? far[below(g, 4)] : (int64_t)below(g, 7) - 3;
    ends[i] = one_in(g, 4) ? far[below(g, 4)] : (int64_t)below(g, 9) - 3;
    steps[i] = one_in(g, 3) ? -1 - (int64_t)below(g, 2) : 1 + (int64_t)below(g, 2);
  }
  takes(g, node, numbers(g, count, starts));
  takes(g, node, numbers(g, count, ends));
  takes(g, node, numbers(g, count, axes));
  if (one_in(g, 2)) takes(g, node, numbers(g, count, steps));
}

/* Indices below an axis, of any shape. */
static uint32_t indices(random_graph *g, uint32_t rank, const uint32_t *dims, uint32_t end) {
  const uint32_t index = fresh(g, one_in(g, 4) ? I32 : I64, rank, dims);
  graph_value *value = &g->values[index];
  const uint32_t size = graph_type_size(value->type);
  for (size_t i = 0; i < value->size / size; i++) {
    const int64_t number = end ? (int64_t)below(g, end) - (one_in(g, 4) ? (int64_t)end : 0) : 0;
    memcpy(value->bytes + i * size, &number, size);
  }
  return index;
}

static void make_gather(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 1, 4), rank = g->values[x].rank;
  const int64_t axis = axis_of(g, rank);
  const uint32_t at = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis) % rank,
                 end = g->values[x].dims[at];
  uint32_t dims[GRAPH_AXES], of;
  takes(g, node, x);
  if (graph_op_is_in(node->op, "Gather")) {
    of = random_shape(g, 0, 2, dims);
  } else {
    of = rank;
    for (uint32_t i = 0; i < rank; i++) {
      const uint32_t most = g->values[x].dims[i];
      dims[i] = i == at ? 1 + below(g, 3) : most ? 1 + below(g, most) : 0;
    }
  }
  takes(g, node, indices(g, of, dims, end));
  test_put_integer(&node->body, "axis", axis);
  if (!graph_op_is_in(node->op, "ScatterElements")) return;
  takes(g, node, fresh(g, g->values[x].type, of, dims));
  if (g->opset >= 16 && one_in(g, 2)) test_put_word(&node->body, "reduction", "add");
}

static void make_nd(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 1, 4), rank = g->values[x].rank, depth = 1 + below(g, rank),
                 rows = 1 + below(g, 3);
  uint32_t dims[GRAPH_AXES] = {rows, depth}, shape[GRAPH_AXES];
  memcpy(shape, g->values[x].dims, sizeof shape);
  const uint32_t at = fresh(g, I64, 2, dims);
  g->values[at].initializer = !one_in(g, 4);
  for (uint32_t i = 0; i < rows * depth; i++) {
    const uint32_t end = shape[i % depth];
    const int64_t number = end ? below(g, end) : 0;
    memcpy(g->values[at].bytes + 8 * i, &number, 8);
  }
  takes(g, node, x);
  takes(g, node, at);
  if (!graph_op_is_in(node->op, "ScatterND")) return;
  memcpy(dims + 1, shape + depth, (rank - depth) * sizeof *dims);
  takes(g, node, fresh(g, g->values[x].type, 1 + rank - depth, dims));
  if (g->opset >= 16 && one_in(g, 4)) test_put_word(&node->body, "reduction", "add");
}

static void make_expand(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, ANY, 0, 5), rank = g->values[x].rank;
  int64_t sizes[GRAPH_AXES];
  takes(g, node, x);
  if (graph_op_is_in(node->op, "Tile")) {
    for (uint32_t i = 0; i < rank; i++) sizes[i] = one_in(g, 12) ? 0 : 1 + below(g, 2);
    takes(g, node, numbers(g, rank, sizes));
    return;
  }
  const uint32_t more = below(g, 2);
  for (uint32_t i = 0; i < rank; i++)
    sizes[more + i] = g->values[x].dims[i] == 1 ? 1 + below(g, 3)
                      : one_in(g, 3)            ? 1
                                                : g->values[x].dims[i];
  if (more) sizes[0] = 1 + below(g, 2);
  takes(g, node, numbers(g, rank + more, sizes));
}

static void make_pad(random_graph *g, graph_node *node) {
  static const char *const modes[] = {"constant", "constant", "edge", "reflect", "wrap"};
  const uint32_t x = pick(g, ANY, 1, 4), rank = g->values[x].rank;
  int64_t pads[2 * GRAPH_AXES];
  const char *mode = modes[below(g, g->opset >= 19 ? 5 : 4)];
  for (uint32_t i = 0; i < 2 * rank; i++) pads[i] = one_in(g, 2) ? 0 : (int64_t)below(g, 4) - 1;
  takes(g, node, x);
  takes(g, node, numbers(g, 2 * rank, pads));
  if (strcmp(mode, "constant") == 0 && one_in(g, 2))
    takes(g, node, fresh(g, g->values[x].type, 0, NULL));
  test_put_word(&node->body, "mode", mode);
}

static void make_trilu(random_graph *g, graph_node *node) {
  const int64_t k = (int64_t)below(g, 7) - 3;
  takes(g, node, pick(g, ANY, 2, 5));
  if (one_in(g, 2)) {
    const uint32_t number = numbers(g, 1, &k);
    g->values[number].rank = 0;
    takes(g, node, number);
  }
  if (one_in(g, 2)) test_put_integer(&node->body, "upper", below(g, 2));
}

static void make_depth(random_graph *g, graph_node *node) {
  uint32_t dims[4] = {1 + below(g, 2), 4, 1 + below(g, 2), 1 + below(g, 3)};
  if (graph_op_is_in(node->op, "SpaceToDepth"))
    dims[1] = 1 + below(g, 2), dims[2] *= 2, dims[3] *= 2;
  takes(g, node, fresh(g, F32, 4, dims));
  test_put_integer(&node->body, "blocksize", 2);
  if (graph_op_is_in(node->op, "DepthToSpace") && one_in(g, 2))
    test_put_word(&node->body, "mode", "CRD");
}

static void make_one_hot(random_graph *g, graph_node *node) {
  uint32_t dims[GRAPH_AXES], two = 2;
  const uint32_t rank = random_shape(g, 0, 3, dims);
  const int64_t depth = 1 + below(g, 4);
  takes(g, node, indices(g, rank, dims, (uint32_t)depth + 1));
  takes(g, node, numbers(g, 1, &depth));
  takes(g, node, fresh(g, F32, 1, &two));
  if (one_in(g, 2)) test_put_integer(&node->body, "axis", axis_of(g, rank + 1));
}

static void make_shape(random_graph *g, graph_node *node) {
  takes(g, node, pick(g, ANY, 0, 6));
  if (graph_op_is_in(node->op, "Shape") && g->opset >= 15 && one_in(g, 2))
    test_put_integer(&node->body, "start", (int64_t)below(g, 5) - 2);
}

static void make_non_zero(random_graph *g, graph_node *node) { takes(g, node, pick(g, ANY, 1, 4)); }

static void make_matmul(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, BIT(F32), 1, 5), rank = g->values[x].rank;
  uint32_t dims[GRAPH_AXES], of = 0;
  const uint32_t inner = g->values[x].dims[rank - 1];
  if (rank > 2 && one_in(g, 2))
    for (uint32_t i = 0; i + 2 < rank; i++) dims[of++] = one_in(g, 4) ? 1 : g->values[x].dims[i];
  dims[of++] = inner;
  if (!one_in(g, 6)) dims[of++] = random_axis(g);
  const uint32_t w = one_in(g, 8) ? pick(g, BIT(F32), 1, 3) : fresh(g, F32, of, dims);
  takes(g, node, x);
  takes(g, node, w);
}

static void make_gemm(random_graph *g, graph_node *node) {
  const uint32_t x = pick(g, BIT(F32), 2, 2), turned = below(g, 2), back = below(g, 2);
  const uint32_t m = g->values[x].dims[turned ? 1 : 0], k = g->values[x].dims[turned ? 0 : 1],
                 n = random_axis(g);
  const uint32_t w[] = {back ? n : k, back ? k : n}, c[] = {one_in(g, 2) ? 1 : m, n};
  takes(g, node, x);
  takes(g, node, fresh(g, F32, 2, w));
  if (!one_in(g, 3)) {
    const uint32_t flat = below(g, 2);
    takes(g, node, fresh(g, F32, flat ? 1 : 2, flat ? c + 1 : c));
  }
  if (turned) test_put_integer(&node->body, "transA", 1);
  if (back) test_put_integer(&node->body, "transB", 1);
  if (one_in(g, 3)) test_put_float(&node->body, "alpha", 0.5f);
  if (one_in(g, 3)) test_put_float(&node->body, "beta", 2);
}

static void put_windows(random_graph *g, graph_node *node, uint32_t axes, const int64_t *kernel) {
  int64_t list[6];
  test_put_integers(&node->body, "kernel_shape", axes, kernel);
  if (one_in(g, 2)) {
    for (uint32_t i = 0; i < axes; i++) list[i] = 1 + below(g, 3);
    test_put_integers(&node->body, "strides", axes, list);
  }
  if (one_in(g, 3)) {
    for (uint32_t i = 0; i < axes; i++) list[i] = 1 + below(g, 2);
    if (!graph_op_is_in(node->op, "AveragePool") || g->opset >= 19)
      test_put_integers(&node->body, "dilations", axes, list);
  }
  if (one_in(g, 4)) {
    test_put_word(&node->body, "auto_pad", one_in(g, 2) ? "SAME_UPPER" : "SAME_LOWER");
  } else if (one_in(g, 2)) {
    for (uint32_t i = 0; i < 2 * axes; i++)
      list[i] = below(g, kernel[i % axes] < 3 ? (uint32_t)kernel[i % axes] : 3);
    test_put_integers(&node->body, "pads", 2 * axes, list);
  }
}

static uint32_t image(random_graph *g, uint32_t *axes) {
  uint32_t dims[5];
  const uint32_t given = pick(g, BIT(F32), 3, 5);
  if (one_in(g, 3)) {
    *axes = g->values[given].rank - 2;
    return given;
  }
  *axes = 1 + below(g, 3);
  dims[0] = 1 + below(g, 2);
  dims[1] = 1 + below(g, 4);
  for (uint32_t i = 0; i < *axes; i++) dims[2 + i] = 1 + below(g, *axes == 3 ? 3 : 6);
  return fresh(g, F32, 2 + *axes, dims);
}

static void make_conv(random_graph *g, graph_node *node) {
  uint32_t axes, groups = 1;
  const uint32_t x = image(g, &axes), channels = g->values[x].dims[1];
  uint32_t dims[5];
  int64_t kernel[3];
  if (channels && one_in(g, 3)) groups = channels % 2 || one_in(g, 2) ? channels : 2;
  dims[0] = groups * (1 + below(g, 2));
  dims[1] = channels / groups;
  for (uint32_t i = 0; i < axes; i++) kernel[i] = dims[2 + i] = 1 + below(g, 3);
  takes(g, node, x);
  takes(g, node, fresh(g, F32, 2 + axes, dims));
  if (one_in(g, 2)) takes(g, node, fresh(g, F32, 1, dims));
  if (groups > 1) test_put_integer(&node->body, "group", groups);
  put_windows(g, node, axes, kernel);
}

static void make_pool(random_graph *g, graph_node *node) {
  uint32_t axes;
  const uint32_t x = image(g, &axes);
  int64_t kernel[3];
  for (uint32_t i = 0; i < axes; i++) kernel[i] = 1 + below(g, 3);
  takes(g, node, x);
  put_windows(g, node, axes, kernel);
  if (one_in(g, 3)) test_put_integer(&node->body, "ceil_mode", 1);
  if (graph_op_is_in(node->op, "AveragePool") && one_in(g, 3))
    test_put_integer(&node->body, "count_include_pad", 1);
}

static void make_einsum(random_graph *g, graph_node *node) {
  static const struct {
    const char *equation;
    uint32_t rank;
    uint32_t other[4]; /* axes of the first that the second has, then 9 */
  } forms[] = {
      {"ij,jk->ik", 2, {1, 9}},       {"ij->ji", 2, {9}},       {"ij->i", 2, {9}},
      {"bij,bjk->bik", 3, {0, 2}},    {"bij,bkj->bik", 3, {0}}, {"i,j->ij", 1, {9}},
      {"...ij,jk->...ik", 3, {2, 9}}, {"ijk->kji", 3, {9}},     {"bhqd,bhkd->bhqk", 4, {0}}};
  const uint32_t form = below(g, COUNT(forms));
  const uint32_t x = pick(g, BIT(F32), forms[form].rank, forms[form].rank);
  uint32_t a[GRAPH_AXES];
  memcpy(a, g->values[x].dims, sizeof a);
  const uint32_t k = 1 + below(g, 3);
  takes(g, node, x);
  const uint32_t shapes[][4] = {{a[1], k}, {0},       {0}, {a[0], a[2], k},      {a[0], k, a[2]},
                                {k},       {a[2], k}, {0}, {a[0], a[1], k, a[3]}};
  static const uint32_t ranks[] = {2, 0, 0, 3, 3, 1, 2, 0, 4};
  if (strchr(forms[form].equation, ',')) takes(g, node, fresh(g, F32, ranks[form], shapes[form]));
  test_put_word(&node->body, "equation", forms[form].equation);
}

static void make_quantise(random_graph *g, graph_node *node) {
  const bool back = graph_op_is_in(node->op, "DequantizeLinear");
  const uint32_t x = back ? pick(g, BIT(U8) | BIT(I8), 0, 4) : pick(g, BIT(F32), 0, 4);
  takes(g, node, x);
  if (graph_op_is_in(node->op, "DynamicQuantizeLinear")) {
    node->output_count = 3;
    return;
  }
  const uint32_t type = back ? g->values[x].type : one_in(g, 2) ? U8 : I8;
  const uint32_t scale = fresh(g, F32, 0, NULL);
  const float number = 0.25f * (float)(1 + below(g, 8));
  memcpy(g->values[scale].bytes, &number, 4);
  takes(g, node, scale);
  if (!one_in(g, 3)) takes(g, node, fresh(g, type, 0, NULL));
}

static void make_resize(random_graph *g, graph_node *node) {
  static const char *const modes[] = {"nearest", "linear", "cubic"}, *const ways[] = {
                                                                         "half_pixel", "asymmetric",
                                                                         "align_corners",
                                                                         "pytorch_half_pixel"};
  uint32_t dims[4] = {1, 1 + below(g, 2), 1 + below(g, 5), 1 + below(g, 5)};
  int64_t sizes[4];
  for (int i = 0; i < 4; i++) sizes[i] = i < 2 ? dims[i] : 1 + below(g, 7);
  takes(g, node, fresh(g, F32, 4, dims));
  leaves_out(node);
  leaves_out(node);
  takes(g, node, numbers(g, 4, sizes));
  test_put_word(&node->body, "mode", modes[below(g, 3)]);
  test_put_word(&node->body, "coordinate_transformation_mode", ways[below(g, 4)]);
}

static void make_range(random_graph *g, graph_node *node) {
  const uint32_t type = one_in(g, 2) ? I64 : F32;
  for (int i = 0; i < 3; i++) {
    const uint32_t number = fresh(g, type, 0, NULL);
    g->values[number].initializer = true;
    takes(g, node, number);
  }
}

static void make_constant_of_shape(random_graph *g, graph_node *node) {
  uint32_t dims[GRAPH_AXES];
  int64_t sizes[GRAPH_AXES];
  const uint32_t rank = random_shape(g, 0, 4, dims);
  for (uint32_t i = 0; i < rank; i++) sizes[i] = dims[i];
  takes(g, node, numbers(g, rank, sizes));
}

/* Queries, keys and values of four axes. */
static void make_attention(random_graph *g, graph_node *node) {
  const uint32_t b = 1 + below(g, 2), h = 1 + below(g, 2), q = 1 + below(g, 3), k = 1 + below(g, 4),
                 d = 1 + below(g, 4), v = 1 + below(g, 4);
  const uint32_t queries[] = {b, h, q, d}, keys[] = {b, h, k, d}, values[] = {b, h, k, v},
                 mask[] = {q, k};
  takes(g, node, fresh(g, F32, 4, queries));
  takes(g, node, fresh(g, F32, 4, keys));
  takes(g, node, fresh(g, F32, 4, values));
  if (one_in(g, 2)) takes(g, node, fresh(g, one_in(g, 2) ? BOOL : F32, 2, mask));
  if (one_in(g, 3)) test_put_integer(&node->body, "is_causal", 1);
  if (one_in(g, 3)) test_put_float(&node->body, "softcap", 2);
}

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
  const uint32_t from = g->value_count, op = below(g, COUNT(ops));
  if (g->opset < ops[op].since || g->value_count + 16 > GRAPH_VALUES) return false;
  graph_node *node = &g->nodes[g->node_count];
  memset(node, 0, sizeof *node);
  node->op = ops[op].op;
  node->output_count = 1;
  ops[op].make(g, node);
  test_put_text(&node->body, 4, node->op);
  for (uint32_t i = 0; i < node->output_count; i++) add_value(g, (int)g->node_count);
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
  g->opset = opsets[below(g, COUNT(opsets))];
  g->special = one_in(g, 2) ? 0 : 1 + below(g, 2);
  g->empty = one_in(g, 8);
  g->odd = one_in(g, 3);
  for (int tries = 0; g->node_count < nodes && tries < 40; tries++) add_node(g);
  /* the last node's results; all of them now and then, so that nothing is joined */
  const bool all = one_in(g, 3);
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
