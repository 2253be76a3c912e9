/* ONNX files that are hostile or damaged: each gets its sentence. And what a sound small one gives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "support/onnx_file.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;

static heed_status open_bytes(const void *bytes, size_t size, heed_onnx **file) {
  const heed_onnx_desc desc = {sizeof desc, {size, bytes, NULL, NULL}, "m.onnx", NULL, NULL};
  return heed_onnx_open(context, &desc, file, &error);
}

/* Memory of its own size, so that reading past it shows. Frees the message. */
static void refuse(test_message message, heed_status status, const char *part) {
  unsigned char *copy = malloc(message.size ? message.size : 1);
  heed_onnx *file;
  if (message.size) memcpy(copy, message.data, message.size);
  assert_fails(open_bytes(copy, message.size, &file), status, part);
  if (strncmp(error.message, "m.onnx: ", 8) != 0) fail_msg("no place in \"%s\"", error.message);
  free(copy);
  free(message.data);
}

static void refuse_graph(test_message *graph, const char *part) {
  refuse(test_onnx_file(graph), HEED_INVALID_FILE, part);
}

/* An input or initializer without a name is nobody's; an output has one. */
static void test_nameless_output(void **state) {
  (void)state;
  const uint32_t one[] = {1};
  test_message graph = {0}, input = {0}, initializer = {0};
  test_put_value(&graph, 12, "");
  refuse_graph(&graph, "output  is missing (expected a node that makes it)");
  test_put_value(&input, 11, "x");
  test_put_value(&input, 11, "");
  refuse_graph(&input, "input 1 of the graph has no name");
  test_put_floats(&initializer, "", 1, one);
  refuse_graph(&initializer, "initializer 0 has no name");
}

/* A second value of one thing, where nobody knows which is meant; and a value of another type than
 * the attribute says. */
static void test_two_meanings(void **state) {
  (void)state;
  const uint32_t one[] = {1};
  for (int i = 0; i < 7; i++) {
    static const char *const parts[] = {
        "two versions of the operator set ai.onnx (found 17 and 11, expected one)",
        "an attribute is there twice: axis",
        "alpha has a value of another type than it says (found a field of type 2, expected 1)",
        "input w is of another type or shape than its initializer",
        "its condition is missing (expected input 0)",
        "it names no op",
        "attribute axis has a value of another type than it says"};
    test_message graph = {0}, attributes = {0}, attribute = {0};
    if (i == 3) test_put_floats(&graph, "w", 1, one);
    if (i == 3) test_put_value(&graph, 11, "w"); /* [2, 3] */
    if (i == 1) test_put_integer(&attributes, "axis", 1);
    if (i == 1) test_put_integer(&attributes, "axis", 0);
    if (i == 2 || i == 6) {
      test_put_text(&attribute, 1, i == 2 ? "alpha" : "axis");
      test_put_number(&attribute, 3, 1);
      if (i == 6) test_put_text(&attribute, 4, "1"); /* two values, and no type */
      if (i == 2) test_put_number(&attribute, 20, 1);
      test_put_message(&attributes, 5, &attribute);
    }
    test_put_value(&graph, 11, "x");
    test_put_node(&graph,
                  i == 4   ? "If"
                  : i == 5 ? ""
                           : "Softmax",
                  "n", i == 4 ? "" : "x", "y", attributes.size ? &attributes : NULL);
    test_put_value(&graph, 12, "y");
    test_message file = test_onnx_file(&graph), opset = {0};
    test_put_number(&opset, 2, i == 0 ? 11 : 17); /* the same twice is no contradiction */
    test_put_message(&file, 8, &opset);
    refuse(file, HEED_INVALID_FILE, parts[i]);
  }
}

/* Fields that no version of the format has so far say nothing of an attribute's type. */
static void test_later_fields(void **state) {
  (void)state;
  test_message graph = {0}, attribute = {0}, attributes = {0};
  heed_onnx *onnx;
  test_put_text(&attribute, 1, "axis");
  test_put_number(&attribute, 3, 1);
  test_put_number(&attribute, 20, 2);
  test_put_number(&attribute, 24, 1);
  test_put_number(&attribute, 99, 1);
  test_put_message(&attributes, 5, &attribute);
  test_put_value(&graph, 11, "x");
  test_put_node(&graph, "Softmax", "n", "x", "y", &attributes);
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  assert_ok(open_bytes(file.data, file.size, &onnx));
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* Each cut is an error. */
static void test_truncated(void **state) {
  (void)state;
  test_message whole = test_onnx_linear();
  uint32_t refused = 0;
  for (size_t size = 0; size < whole.size; size++) {
    unsigned char *copy = malloc(size + 1);
    heed_onnx *file;
    memcpy(copy, whole.data, size);
    const heed_status status = open_bytes(copy, size, &file);
    if (status != HEED_OK && status != HEED_INVALID_FILE) fail_msg("%s", error.message);
    refused += status == HEED_INVALID_FILE;
    heed_onnx_destroy(status == HEED_OK ? file : NULL);
    free(copy);
  }
  assert_int_equal(refused, whole.size);
  free(whole.data);
}

static void test_wire(void **state) {
  (void)state;
  test_message empty = {0}, group = {0}, zero = {0}, long_number = {0}, two = {0};
  refuse(empty, HEED_INVALID_FILE, "not an ONNX model (found 0 graphs, expected one)");
  test_put_number(&group, 1, 8);
  group.data[0] = 0x0B;
  refuse(group, HEED_INVALID_FILE, "of wire type 3");
  test_put_number(&zero, 0, 8);
  refuse(zero, HEED_INVALID_FILE, "not a field of an ONNX file (found tag 0");
  test_put_bytes(&long_number, 0, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 10);
  long_number.data[0] = 0x08;
  long_number.data[1] = 0xFF;
  refuse(long_number, HEED_INVALID_FILE, "invalid number (found more than 64 bits)");
  test_put_text(&two, 7, "");
  test_put_text(&two, 7, "");
  refuse(two, HEED_INVALID_FILE, "found 2 graphs");
}

static void test_graphs(void **state) {
  (void)state;
  test_message circle = {0}, missing = {0}, twice = {0}, output = {0};
  test_put_node(&circle, "Add", "first", "x,b", "a", NULL);
  test_put_node(&circle, "Add", "second", "a,a", "b", NULL);
  test_put_value(&circle, 11, "x");
  refuse_graph(&circle, "node 0 (Add first): input b comes from a later node");
  test_put_node(&missing, "Relu", "n", "x", "y", NULL);
  refuse_graph(&missing, "node 0 (Relu n): input x is missing");
  test_put_node(&twice, "Relu", "n", "x", "y", NULL);
  test_put_node(&twice, "Relu", "m", "x", "y", NULL);
  test_put_value(&twice, 11, "x");
  refuse_graph(&twice, "value y is made twice");
  test_put_value(&output, 12, "y");
  refuse_graph(&output, "output y is missing");
}

/* A tensor with these fields. */
static void refuse_tensor(test_message *tensor, heed_status status, const char *part) {
  test_message graph = {0};
  test_put_text(tensor, 8, "w");
  test_put_message(&graph, 5, tensor);
  refuse(test_onnx_file(&graph), status, part);
}

static void test_tensors(void **state) {
  (void)state;
  test_message huge = {0}, minus = {0}, short_raw = {0}, unknown = {0}, wide = {0}, few = {0};
  for (int i = 0; i < 3; i++) test_put_number(&huge, 1, UINT32_MAX);
  test_put_number(&huge, 2, 1);
  refuse_tensor(&huge, HEED_INVALID_FILE, "tensor w: too many elements");
  test_put_number(&minus, 1, UINT64_MAX);
  refuse_tensor(&minus, HEED_INVALID_FILE, "a dimension is negative or too large");
  test_put_number(&short_raw, 1, 2);
  test_put_number(&short_raw, 2, 1);
  test_put_bytes(&short_raw, 9, "1234", 4);
  refuse_tensor(&short_raw, HEED_INVALID_FILE, "wrong size (found 4 bytes, expected 8)");
  test_put_number(&unknown, 2, 77);
  refuse_tensor(&unknown, HEED_INVALID_FILE, "unknown type of elements");
  for (int i = 0; i < 9; i++) test_put_number(&wide, 1, 1);
  refuse_tensor(&wide, HEED_UNSUPPORTED, "too many axes");
  test_put_number(&few, 1, 1000000);
  test_put_number(&few, 2, 7);
  test_put_bytes(&few, 7, "\1\2", 2);
  refuse_tensor(&few, HEED_INVALID_FILE, "wrong size (found 0 bytes, expected 8000000)");
}

static void put_pair(test_message *tensor, const char *key, const char *value) {
  test_message pair = {0};
  test_put_text(&pair, 1, key);
  test_put_text(&pair, 2, value);
  test_put_message(tensor, 13, &pair);
}

static void test_external(void **state) {
  (void)state;
  test_message alone = {0}, nowhere = {0}, number = {0}, length = {0}, empty = {0};
  test_message *const all[] = {&alone, &nowhere, &number, &length, &empty};
  for (size_t i = 0; i < 5; i++) {
    test_put_number(all[i], 1, 2);
    test_put_number(all[i], 2, 1);
    test_put_number(all[i], 14, 1);
  }
  put_pair(&alone, "location", "../w.bin");
  refuse_tensor(&alone, HEED_UNSUPPORTED, "is in another file (found ../w.bin");
  refuse_tensor(&nowhere, HEED_INVALID_FILE, "external data without a location");
  put_pair(&empty, "location", "");
  refuse_tensor(&empty, HEED_INVALID_FILE, "external data without a location");
  put_pair(&number, "offset", "12x");
  refuse_tensor(&number, HEED_INVALID_FILE, "invalid offset or length");
  put_pair(&length, "location", "w.bin");
  put_pair(&length, "length", "9");
  refuse_tensor(&length, HEED_INVALID_FILE, "wrong size (found 9 bytes, expected 8)");
  static const char *const keys[] = {"location", "offset", "length"};
  for (int i = 0; i < 4; i++) { /* each twice, and a number that is empty */
    test_message twice = {0};
    test_put_number(&twice, 1, 2);
    test_put_number(&twice, 2, 1);
    test_put_number(&twice, 14, 1);
    for (int k = 0; k < 3; k++)
      put_pair(&twice, keys[k], k == 0 ? "a" : i == 3 && k == 1 ? "" : "8");
    if (i < 3) put_pair(&twice, keys[i], i == 0 ? "b" : "8");
    refuse_tensor(&twice, HEED_INVALID_FILE,
                  i < 3 ? "its external data has two places" : "invalid offset or length");
  }
}

/* Graphs in attributes in nodes in graphs ..., from the inside out: lengths come first. */
static void test_nested(void **state) {
  (void)state;
  enum { DEPTH = 100000, ROOM = 24 };
  unsigned char *bytes = malloc((size_t)DEPTH * ROOM), *at = bytes + (size_t)DEPTH * ROOM;
  const unsigned char *const end = at;
  static const unsigned char tags[] = {0x32, 0x2A,
                                       0x0A}; /* attribute.g, node.attribute, graph.node */
  for (uint32_t i = 0; i < DEPTH; i++)
    for (size_t k = 0; k < sizeof tags; k++) {
      uint64_t length = (uint64_t)(end - at);
      unsigned char varint[5];
      size_t used = 0;
      do {
        varint[used++] = (unsigned char)((length & 0x7F) | (length > 0x7F ? 0x80 : 0));
        length >>= 7;
      } while (length);
      at -= used;
      memcpy(at, varint, used);
      *--at = tags[k];
    }
  test_message file = {0};
  test_put_bytes(&file, 7, at, (size_t)(end - at));
  free(bytes);
  refuse(file, HEED_UNSUPPORTED, "graphs are nested too deeply");
}

/* Every allocation fails once. */
static void fail_memory_of(test_message whole) {
  for (size_t fail_at = 1;; fail_at++) {
    test_allocator allocator = {0};
    heed_context_desc desc = test_context_desc(&allocator);
    heed_context *other;
    heed_onnx *file;
    assert_ok(heed_context_create(&desc, &other, &error));
    allocator.fail_at = allocator.total + fail_at;
    const heed_onnx_desc open = {
        sizeof open, {whole.size, whole.data, NULL, NULL}, "m.onnx", NULL, NULL};
    const heed_status status = heed_onnx_open(other, &open, &file, &error);
    if (status == HEED_OK) heed_onnx_destroy(file);
    heed_context_destroy(other);
    assert_int_equal(allocator.live, 0);
    if (status == HEED_OK) break;
    assert_int_equal(status, HEED_OUT_OF_MEMORY);
  }
  free(whole.data);
}

static void test_memory(void **state) {
  (void)state;
  fail_memory_of(test_onnx_linear());
  fail_memory_of(test_onnx_block());
}

/* The factor of the product gets the name of the bias, and is turned; the bias stays. */
static void test_linear(void **state) {
  (void)state;
  test_message whole = test_onnx_linear();
  heed_onnx *file;
  heed_safetensors *tensors;
  float weight[12], part[5];
  assert_ok(open_bytes(whole.data, whole.size, &file));
  const heed_source source = heed_onnx_source(file);
  assert_ok(heed_safetensors_open(context, &source, "m.onnx", &tensors, &error));
  assert_int_equal(heed_safetensors_count(tensors), 2);
  const heed_safetensors_tensor *found = heed_safetensors_find(tensors, "layer.weight");
  assert_non_null(found);
  assert_int_equal(found->shape.dim[0], 4);
  assert_int_equal(found->shape.dim[1], 3);
  assert_ok(heed_safetensors_read(tensors, found, 0, 12, weight, &error));
  for (int n = 0; n < 4; n++)
    for (int k = 0; k < 3; k++) assert_true(weight[n * 3 + k] == 0.5f * (float)(k * 4 + n));
  assert_ok(heed_safetensors_read(tensors, found, 4, 5, part, &error));
  assert_memory_equal(part, weight + 4, sizeof part);
  unsigned char bytes[48];
  for (size_t i = 0; i < 48; i++)
    assert_ok(source.read(source.user, found->offset + i, bytes + i, 1, &error));
  assert_memory_equal(bytes, weight, sizeof bytes);
  assert_string_equal(heed_onnx_summary(file), "opset 17 by test, 2 nodes, 2 named weights");
  heed_safetensors_destroy(tensors);
  heed_onnx_destroy(file);
  free(whole.data);
}

/* x [2, 3] by itself, as often as wanted: work is counted before it is done. */
static heed_status multiply_with(const char *op, uint64_t most_steps) {
  static const unsigned char input[] =
      "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}      "
      " \0\0\x80\x3F\0\0\0\x40\0\0\0\xBF\0\0\x80\x3F\0\0\x80\x3E\0\0\0\0";
  test_message graph = {0};
  const uint32_t dims[] = {3, 1000};
  test_put_floats(&graph, "w", 2, dims);
  test_put_node(&graph, op, "product", "x,w", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  heed_onnx *onnx;
  heed_onnx_result *result = NULL;
  assert_ok(open_bytes(file.data, file.size, &onnx));
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {sizeof input - 1, input, NULL, NULL},
                                        .most_steps = most_steps};
  const heed_status status = heed_onnx_evaluate(onnx, &desc, &result, &error);
  if (status == HEED_OK) heed_onnx_result_destroy(result);
  heed_onnx_destroy(onnx);
  free(file.data);
  return status;
}

static void test_work(void **state) {
  static const char *const ops[] = {"MatMul", "Gemm"};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    char part[80];
    snprintf(part, sizeof part, "node 0 (%s product): the graph computes too much", ops[i]);
    assert_ok(multiply_with(ops[i], 0));
    assert_ok(multiply_with(ops[i], 20000));
    assert_fails(multiply_with(ops[i], 10000), HEED_UNSUPPORTED, part);
  }
}

/* An attribute of a node: a text, "#7" a whole number, "2,2,2" a list of them. */
static void put_attribute(test_message *attributes, const char *name, const char *word) {
  test_message text = {0};
  if (*word == '#') {
    test_put_integer(attributes, name, strtoll(word + 1, NULL, 10));
    return;
  }
  const bool list = *word >= '0' && *word <= '9';
  test_put_text(&text, 1, name);
  for (const char *digit = word; list && *digit; digit++)
    if (*digit != ',') test_put_number(&text, 8, (uint64_t)(*digit - '0'));
  if (!list) test_put_text(&text, 4, word);
  test_put_number(&text, 20, list ? 7 : 3);
  test_put_message(attributes, 5, &text);
}

/* x [2, 3] of ones: what a node of it is refused with, in double and on kernels. */
static void refuse_node(const char *op, const char *inputs, const char *attribute, const char *word,
                        const char *part) {
  static const unsigned char input[] =
      "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}      "
      " \0\0\x80\x3F\0\0\x80\x3F\0\0\x80\x3F\0\0\x80\x3F\0\0\x80\x3F\0\0\x80\x3F";
  static const int64_t twice[] = {0, 0}, far[] = {1, 0}, ends[] = {2, 2}, all[] = {2, 0, 0, 0};
  static const int64_t one[] = {1};
  static const uint32_t single[] = {1}, two[] = {2}, four[] = {4}, tall[] = {2, 1},
                        image[] = {1, 1, 2, 2};
  for (int way = 0; way < 2; way++) {
    test_message graph = {0}, attributes = {0};
    const heed_cpu_desc threads = {sizeof threads, 1, NULL};
    heed_backend *cpu = NULL;
    heed_onnx *onnx;
    heed_onnx_result *result;
    test_put_raw(&graph, "one", 7, 1, single, one, sizeof one);
    test_put_raw(&graph, "twice", 7, 1, two, twice, sizeof twice);
    test_put_raw(&graph, "far", 7, 1, two, far, sizeof far);
    test_put_raw(&graph, "ends", 7, 1, two, ends, sizeof ends);
    test_put_raw(&graph, "all", 7, 1, four, all, sizeof all);
    test_put_floats(&graph, "scales", 1, two);
    test_put_floats(&graph, "tall", 2, tall);
    test_put_floats(&graph, "image", 4, image);
    if (attribute) put_attribute(&attributes, attribute, word);
    test_put_node(&graph, op, "n", inputs, "y", &attributes);
    test_put_value(&graph, 11, "x");
    test_put_value(&graph, 12, "y");
    test_message file = test_onnx_file(&graph);
    assert_ok(open_bytes(file.data, file.size, &onnx));
    if (way) assert_ok(heed_cpu_backend_create(context, &threads, &cpu, &error));
    const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                          .inputs = {sizeof input - 1, input, NULL, NULL},
                                          .backend = cpu};
    assert_fails(heed_onnx_evaluate(onnx, &desc, &result, &error), HEED_INVALID_FILE, part);
    heed_onnx_destroy(onnx);
    heed_backend_destroy(cpu);
    free(file.data);
  }
}

/* What ONNX has no meaning for, and heed would read other memory for, or other bits. */
static void test_meaningless_nodes(void **state) {
  (void)state;
  refuse_node("Pad", "x,all", "mode", "edges",
              "attribute mode is unknown (found \"edges\", expected constant|reflect|edge|wrap)");
  refuse_node("Pad", "x,all,,twice", NULL, NULL, "an axis is named twice");
  refuse_node("Pad", "x,twice", NULL, NULL, "invalid pads");
  refuse_node("Slice", "x,far,ends,twice", NULL, NULL, "an axis is named twice");
  refuse_node("Slice", "x,far,ends,one", NULL, NULL, "lists of several lengths");
  refuse_node("Slice", "x,far,ends,,one", NULL, NULL, "lists of several lengths");
  refuse_node("Slice", "x,far,one", NULL, NULL, "lists of several lengths");
  refuse_node("Split", "x,one", NULL, NULL, "invalid split");
  refuse_node("Split", "x,far", NULL, NULL, "invalid split");
  refuse_node("Unsqueeze", "x,twice", NULL, NULL, "an axis is named twice");
  refuse_node("Resize", "x,,scales", "mode", "area", "attribute mode is unknown");
  refuse_node("Resize", "x,,scales", "nearest_mode", "near", "attribute nearest_mode is unknown");
  refuse_node("Gelu", "x", "approximate", "sigmoid", "attribute approximate is unknown");
  refuse_node("Conv", "x,x", "auto_pad", "SAME", "attribute auto_pad is unknown");
  refuse_node("Conv", "image,image", "strides", "2", "strides, dilations or pads of other axes");
  refuse_node("Conv", "image,image", "pads", "1,1,1", "strides, dilations or pads of other axes");
  refuse_node("Attention", "image,image,image", "qk_matmul_output_mode", "#4",
              "attribute qk_matmul_output_mode is unknown (found 4)");
  refuse_node("Attention", "image,image,image", "softmax_precision", "#7",
              "attribute softmax_precision is unknown (found 7)");
  refuse_node("RotaryEmbedding", "image,tall,tall,scales", NULL, NULL, "x has 3 or 4 axes");
  refuse_node("LayerNormalization", "image,tall", "axis", "#2", "scale and bias do not fit");
  refuse_node("SkipLayerNormalization", "image,tall,scales", NULL, NULL, "skip or bias do not fit");
  refuse_node("And", "x,x", NULL, NULL, "input 0 is of another type (found FLOAT, expected BOOL)");
  refuse_node("Not", "x", NULL, NULL, "input 0 is of another type (found FLOAT, expected BOOL)");
  refuse_node("Sqrt", "far", NULL, NULL,
              "input 0 is of another type (found INT64, expected floats)");
  refuse_node("Mean", "far,far", NULL, NULL, "input 0 is of another type");
  refuse_node("Softmax", "far", NULL, NULL, "input 0 is of another type");
}

/* A field at the end of nested messages, whose fields are `path`. */
static test_message nested(const char *path, test_message *leaf) {
  test_message inner = *leaf;
  for (size_t i = strlen(path); i-- > 0;) {
    test_message outer = {0};
    test_put_message(&outer, (uint32_t)path[i], &inner);
    inner = outer;
  }
  return inner;
}

#define GRAPH "\7"
#define NODE GRAPH "\1"
#define ATTRIBUTE NODE "\5"
#define TENSOR GRAPH "\5"
#define VALUE GRAPH "\13"
#define TYPE VALUE "\2\1"
#define SHAPE TYPE "\2"

/* A number where a message reads bytes, and bytes where it reads a number. */
static void test_wire_types(void **state) {
  (void)state;
  static const struct {
    const char *path, *numbers, *texts, *what; /* fields that get a number, or a text */
  } cases[] = {{"", "\2\3\10", "\1", "model"},
               {"\10", "\1", "\2", "opset"},
               {GRAPH, "\1\5\13\14", "", "graph"},
               {NODE, "\1\2\3\4\5\7", "", "node"},
               {ATTRIBUTE, "\1\2\4\5\6", "\2\3\24", "attribute"},
               {TENSOR, "\10\11\15", "\2\16", "tensor"},
               {TENSOR "\15", "\1\2", "", "tensor"},
               {VALUE, "\1\2", "", "value"},
               {TYPE, "\2", "\1", "type"},
               {SHAPE, "\1", "", "shape"},
               {SHAPE "\1", "", "\1", "dimension"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t numbers = strlen(cases[i].numbers), all = numbers + strlen(cases[i].texts);
    for (size_t k = 0; k < all; k++) {
      const bool number = k < numbers;
      const uint32_t field = (uint32_t)(number ? cases[i].numbers[k] : cases[i].texts[k - numbers]);
      test_message leaf = {0};
      char part[96];
      if (number)
        test_put_number(&leaf, field, 1);
      else
        test_put_text(&leaf, field, "a");
      test_message file = nested(cases[i].path, &leaf);
      if (file.data[0] >> 3 != 7) test_put_text(&file, 7, "");
      snprintf(part, sizeof part, "field %u of a %s has the wrong type (found wire type %d",
               (unsigned)field, cases[i].what, number ? 0 : 2);
      refuse(file, HEED_INVALID_FILE, part);
    }
  }
  test_message leaf = {0};
  test_put_number(&leaf, 7, 1);
  refuse(leaf, HEED_INVALID_FILE, "field 7 of a model has the wrong type");
}

/* Each message ends inside a field, and has texts that are none. */
static void test_damaged_messages(void **state) {
  (void)state;
  static const char *const paths[] = {"",           "\10", GRAPH, NODE,  ATTRIBUTE, TENSOR,
                                      TENSOR "\15", VALUE, TYPE,  SHAPE, SHAPE "\1"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    test_message leaf = {0};
    test_put_number(&leaf, 9, 200);
    leaf.size--; /* of the two bytes of its number */
    test_message file = nested(paths[i], &leaf);
    if (file.data[0] >> 3 != 7 && i) test_put_text(&file, 7, "");
    refuse(file, HEED_INVALID_FILE, "a message ends inside a field");
  }
  static const struct {
    const char *path;
    uint32_t field;
  } texts[] = {{"", 2},        {"", 3},     {"\10", 1},        {NODE, 3},
               {ATTRIBUTE, 4}, {TENSOR, 8}, {TENSOR "\15", 2}, {VALUE, 1}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    static const char *const bad[] = {"\xFF", "a\0b"};
    for (size_t k = 0; k < 2; k++) {
      test_message leaf = {0};
      test_put_bytes(&leaf, texts[i].field, bad[k], k ? 3 : 1);
      test_message file = nested(texts[i].path, &leaf);
      if (file.data[0] >> 3 != 7) test_put_text(&file, 7, "");
      refuse(file, HEED_INVALID_FILE, "is not UTF-8");
    }
  }
  test_message leaf = {0};
  char *large = calloc(1 << 20, 1);
  memset(large, 'a', 1 << 20);
  test_put_bytes(&leaf, 3, large, 1 << 20);
  free(large);
  refuse(nested(NODE, &leaf), HEED_INVALID_FILE, "a text of a node is too long (found 1048576");
  test_message sparse = {0}, axes = {0}, list = {0};
  test_put_text(&sparse, 15, "");
  refuse(nested(GRAPH, &sparse), HEED_UNSUPPORTED, "sparse initializers are not supported");
  for (int k = 0; k < 9; k++) test_put_text(&axes, 1, "");
  refuse(nested(SHAPE, &axes), HEED_UNSUPPORTED, "has too many axes (expected 8)");
  test_put_bytes(&list, 7, "\1\2\3", 3); /* floats, of 4 bytes each */
  test_put_number(&list, 20, 6);
  refuse(nested(ATTRIBUTE, &list), HEED_INVALID_FILE, "a message ends inside a field");
  test_message numbers = {0};
  test_put_number(&numbers, 7, 1);
  test_put_number(&numbers, 20, 6);
  refuse(nested(ATTRIBUTE, &numbers), HEED_INVALID_FILE,
         "field 7 of a list of numbers has the wrong type");
}

/* One weight "t.x" of `count` elements, as bytes of that many per element, of the .safetensors
 * file that it becomes. */
static void read_weight(test_message *tensor, uint32_t type, uint32_t count, const char *dtype,
                        unsigned char *to, size_t size) {
  test_message graph = {0};
  heed_onnx *file;
  heed_safetensors *tensors;
  test_put_number(tensor, 1, count);
  test_put_number(tensor, 2, type);
  test_put_text(tensor, 8, "t.x");
  test_put_message(&graph, 5, tensor);
  test_message whole = test_onnx_file(&graph);
  assert_ok(open_bytes(whole.data, whole.size, &file));
  const heed_source source = heed_onnx_source(file);
  assert_ok(heed_safetensors_open(context, &source, "m.onnx", &tensors, &error));
  const heed_safetensors_tensor *found = heed_safetensors_find(tensors, "t.x");
  assert_non_null(found);
  assert_string_equal(found->dtype_name, dtype);
  assert_int_equal(found->bytes, size);
  assert_ok(source.read(source.user, found->offset, to, size, &error));
  heed_safetensors_destroy(tensors);
  heed_onnx_destroy(file);
  free(whole.data);
}

/* Elements in the fields of their types, packed and one by one, as little-endian bytes. */
static void test_typed(void **state) {
  (void)state;
  static const struct {
    uint32_t type, field, size;
    const char *dtype;
  } types[] = {{1, 4, 4, "F32"},  {2, 5, 1, "U8"},    {3, 5, 1, "I8"},    {4, 5, 2, "U16"},
               {5, 5, 2, "I16"},  {6, 5, 4, "I32"},   {7, 7, 8, "I64"},   {9, 5, 1, "BOOL"},
               {10, 5, 2, "F16"}, {11, 10, 8, "F64"}, {12, 11, 4, "U32"}, {13, 11, 8, "U64"},
               {16, 5, 2, "BF16"}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    for (int packed = 0; packed < 2; packed++) {
      unsigned char found[16], fixed[16] = {0};
      const uint32_t size = types[i].size;
      const bool is_fixed = types[i].type == 1 || types[i].type == 11;
      test_message tensor = {0};
      fixed[0] = 1;
      fixed[size] = 2;
      if (is_fixed)
        test_put_bytes(&tensor, types[i].field, fixed, 2 * (size_t)size);
      else if (packed)
        test_put_bytes(&tensor, types[i].field, "\1\2", 2);
      else
        for (uint32_t k = 1; k <= 2; k++) test_put_number(&tensor, types[i].field, k);
      read_weight(&tensor, types[i].type, 2, types[i].dtype, found, 2 * (size_t)size);
      assert_memory_equal(found, fixed, 2 * (size_t)size);
    }
  test_message three = {0}, cut = {0}, fixed = {0}, external = {0};
  test_put_number(&three, 1, 2);
  test_put_number(&three, 2, 7);
  test_put_bytes(&three, 7, "\1\2\3", 3);
  refuse_tensor(&three, HEED_INVALID_FILE, "wrong size (found 24 bytes, expected 16)");
  test_put_number(&cut, 1, 2);
  test_put_number(&cut, 2, 7);
  test_put_bytes(&cut, 7, "\1\x82", 2);
  refuse_tensor(&cut, HEED_INVALID_FILE, "a message ends inside a field");
  test_put_number(&fixed, 1, 1);
  test_put_number(&fixed, 2, 1);
  test_put_number(&fixed, 4, 1);
  refuse_tensor(&fixed, HEED_INVALID_FILE, "field 4 of a list of numbers has the wrong type");
  test_put_number(&external, 1, 1);
  test_put_number(&external, 2, 400);
  refuse_tensor(&external, HEED_INVALID_FILE, "unknown type of elements");
  test_message bits = {0};
  for (int k = 0; k < 2; k++) test_put_number(&bits, 1, UINT32_MAX);
  test_put_number(&bits, 2, 7);
  refuse_tensor(&bits, HEED_INVALID_FILE, "tensor w: too many elements");
}

/* y = Cast(w): what the evaluator reads of each type. */
static void cast_gives(uint32_t type, const char *raw, size_t size, uint32_t count,
                       const float *expected) {
  static const unsigned char none[] = "\2\0\0\0\0\0\0\0{}";
  test_message graph = {0}, tensor = {0}, to = {0};
  heed_onnx *file;
  heed_onnx_result *result;
  heed_safetensors *tensors;
  float found[8];
  test_put_number(&tensor, 1, count);
  test_put_number(&tensor, 2, type);
  test_put_text(&tensor, 8, "w");
  test_put_bytes(&tensor, 9, raw, size);
  test_put_message(&graph, 5, &tensor);
  test_put_integer(&to, "to", 1);
  test_put_node(&graph, "Cast", "cast", "w", "y", &to);
  test_put_value(&graph, 12, "y");
  test_message whole = test_onnx_file(&graph);
  assert_ok(open_bytes(whole.data, whole.size, &file));
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {sizeof none - 1, none, NULL, NULL}};
  assert_ok(heed_onnx_evaluate(file, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  assert_ok(heed_safetensors_open(context, &source, "y", &tensors, &error));
  const heed_safetensors_tensor *y = heed_safetensors_find(tensors, "y");
  assert_ok(heed_safetensors_read(tensors, y, 0, count, found, &error));
  for (uint32_t i = 0; i < count; i++)
    if (found[i] != expected[i])
      fail_msg("type %u, element %u: found %g, expected %g", type, i, (double)found[i],
               (double)expected[i]);
  heed_safetensors_destroy(tensors);
  heed_onnx_result_destroy(result);
  heed_onnx_destroy(file);
  free(whole.data);
}

static void test_elements(void **state) {
  (void)state;
  const float small[] = {1, -2, 7}, positive[] = {1, 254, 7};
  cast_gives(1, "\0\0\x80\x3F\0\0\0\xC0\0\0\xE0\x40", 12, 3, small);
  cast_gives(2, "\1\xFE\7", 3, 3, positive);
  cast_gives(3, "\1\xFE\7", 3, 3, small);
  cast_gives(4, "\1\0\xFE\0\7\0", 6, 3, positive);
  cast_gives(5, "\1\0\xFE\xFF\7\0", 6, 3, small);
  cast_gives(6, "\1\0\0\0\xFE\xFF\xFF\xFF\7\0\0\0", 12, 3, small);
  cast_gives(7, "\1\0\0\0\0\0\0\0\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\7\0\0\0\0\0\0\0", 24, 3, small);
  cast_gives(10, "\0\x3C\0\xC0\0\x47", 6, 3, small);
  cast_gives(11, "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\xC0\0\0\0\0\0\0\x1C\x40", 24, 3, small);
  cast_gives(12, "\1\0\0\0\xFE\0\0\0\7\0\0\0", 12, 3, positive);
  cast_gives(16, "\x80\x3F\0\xC0\xE0\x40", 6, 3, small);
}

/* External data: files by a callback, of which one is too short and one has other numbers. */
static heed_status open_other(void *user, const char *location, heed_source *source,
                              heed_error *why) {
  static const float numbers[] = {1, 2, 3, 4};
  ++*(uint32_t *)user;
  if (strcmp(location, "none") == 0) return HEED_IO;
  (void)why;
  *source = (heed_source){strcmp(location, "short") == 0 ? 4 : 8,
                          strcmp(location, "d/e") == 0 ? numbers + 2 : numbers, NULL, NULL};
  return HEED_OK;
}

static test_message external_file(const char *const *locations, uint32_t count,
                                  const char *offset) {
  test_message graph = {0};
  for (uint32_t i = 0; i < count; i++) {
    test_message tensor = {0};
    char name[16];
    snprintf(name, sizeof name, "t.x%u", i);
    test_put_number(&tensor, 1, 2);
    test_put_number(&tensor, 2, 1);
    test_put_text(&tensor, 8, name);
    test_put_number(&tensor, 14, 1);
    put_pair(&tensor, "location", locations[i]);
    put_pair(&tensor, "offset", offset);
    put_pair(&tensor, "checksum", "unread");
    test_put_message(&graph, 5, &tensor);
  }
  return test_onnx_file(&graph);
}

/* Closes the file. */
static void expect_numbers(heed_onnx *file, const char *name, float first) {
  const heed_source source = heed_onnx_source(file);
  heed_safetensors *tensors;
  float numbers[2];
  assert_ok(heed_safetensors_open(context, &source, "m.onnx", &tensors, &error));
  assert_ok(
      heed_safetensors_read(tensors, heed_safetensors_find(tensors, name), 0, 2, numbers, &error));
  assert_true(numbers[0] == first && numbers[1] == first + 1);
  heed_safetensors_destroy(tensors);
  heed_onnx_destroy(file);
}

static void test_external_files(void **state) {
  (void)state;
  static const char *const good[] = {"a", "a", "b"}, *const cut[] = {"short"},
                           *const dotted[] = {"a", "./d/./e", "././a"}, *const none[] = {"none"};
  static const struct {
    const char *const *locations;
    const char *offset;
    heed_status status;
    const char *part;
  } bad[] = {{cut, "0", HEED_INVALID_FILE, "tensor t.x0 lies beyond the end of short (found 4"},
             {good, "9", HEED_INVALID_FILE, "beyond the end of a (found 8 bytes, expected 8 at"},
             {good, "99999999999999999999", HEED_INVALID_FILE, "invalid offset or length"},
             {none, "0", HEED_IO, ""}};
  uint32_t opened = 0;
  heed_onnx *file;
  test_message whole = external_file(good, 3, "0");
  heed_onnx_desc desc = {
      sizeof desc, {whole.size, whole.data, NULL, NULL}, "m.onnx", open_other, &opened};
  assert_ok(heed_onnx_open(context, &desc, &file, &error));
  assert_int_equal(opened, 2);
  expect_numbers(file, "t.x2", 1);
  free(whole.data);
  whole = external_file(dotted, 3, "0");
  desc.source = (heed_source){whole.size, whole.data, NULL, NULL};
  opened = 0;
  assert_ok(heed_onnx_open(context, &desc, &file, &error));
  assert_int_equal(opened, 2); /* ./a is a */
  expect_numbers(file, "t.x1", 3);
  free(whole.data);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    whole = external_file(bad[i].locations, 1, bad[i].offset);
    desc.source = (heed_source){whole.size, whole.data, NULL, NULL};
    assert_fails(heed_onnx_open(context, &desc, &file, &error), bad[i].status, bad[i].part);
    free(whole.data);
  }
  char names[65][4];
  const char *many[65];
  for (int i = 0; i < 65; i++) {
    snprintf(names[i], sizeof names[i], "%d", i);
    many[i] = names[i];
  }
  whole = external_file(many, 65, "0");
  desc.source = (heed_source){whole.size, whole.data, NULL, NULL};
  assert_fails(heed_onnx_open(context, &desc, &file, &error), HEED_UNSUPPORTED,
               "too many files of external data (found more than 64)");
  free(whole.data);
}

/* Only the files of initializers are opened: a constant of a node has its data in the file. */
static void test_external_constant(void **state) {
  (void)state;
  static const unsigned char none[] = "\2\0\0\0\0\0\0\0{}";
  for (int elements = 0; elements < 2; elements++) {
    test_message graph = {0}, tensor = {0}, attribute = {0}, attributes = {0};
    heed_onnx *file;
    heed_onnx_result *result;
    test_put_number(&tensor, 1, (uint64_t)elements);
    test_put_number(&tensor, 2, 1);
    test_put_text(&tensor, 8, "c");
    test_put_number(&tensor, 14, 1);
    put_pair(&tensor, "location", "w.bin");
    test_put_text(&attribute, 1, "value");
    test_put_message(&attribute, 5, &tensor);
    test_put_number(&attribute, 20, 4);
    test_put_message(&attributes, 5, &attribute);
    test_put_node(&graph, "Constant", "n", "", "y", &attributes);
    test_put_value(&graph, 12, "y");
    test_message whole = test_onnx_file(&graph);
    assert_ok(open_bytes(whole.data, whole.size, &file));
    const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                          .inputs = {sizeof none - 1, none, NULL, NULL}};
    if (elements) {
      assert_fails(heed_onnx_evaluate(file, &desc, &result, &error), HEED_INVALID_FILE,
                   "m.onnx: tensor c: its data is not there");
    } else {
      assert_ok(heed_onnx_evaluate(file, &desc, &result, &error));
      heed_onnx_result_destroy(result);
    }
    heed_onnx_destroy(file);
    free(whole.data);
  }
}

/* Every read of a file fails once: larger than what is read at once, so that messages are read
 * again. */
typedef struct failing_source {
  const test_message *whole;
  uint32_t reads, fail_at;
} failing_source;

static heed_status read_failing(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *why) {
  failing_source *source = user;
  (void)why;
  if (++source->reads == source->fail_at) return HEED_IO;
  memcpy(to, source->whole->data + offset, count);
  return HEED_OK;
}

/* i.q, 3 x 2 of INT8, and the scale and zero point of all of it. */
static void put_quantised(test_message *graph) {
  test_message data = {0}, zero = {0}, scale = {0};
  test_put_number(&data, 1, 3);
  test_put_number(&data, 1, 2);
  test_put_number(&data, 2, 3);
  test_put_text(&data, 8, "i.q");
  test_put_bytes(&data, 9, "\1\2\3\4\5\6", 6);
  test_put_message(graph, 5, &data);
  test_put_number(&scale, 2, 1);
  test_put_text(&scale, 8, "scale");
  test_put_bytes(&scale, 9, "\0\0\0\x3F", 4);
  test_put_message(graph, 5, &scale);
  test_put_number(&zero, 2, 3);
  test_put_text(&zero, 8, "zero");
  test_put_bytes(&zero, 9, "\2", 1);
  test_put_message(graph, 5, &zero);
}

/* A file with every kind of message, after `padding` bytes of texts that nobody reads. */
static test_message full_file(size_t padding, size_t name_bytes) {
  test_message graph = {0}, node = {0}, inner = {0}, tensor = {0}, file = {0}, opset = {0};
  char *name = malloc(name_bytes + 8193);
  memset(name, 'a', name_bytes + 8192);
  for (size_t left = padding, part; left > 0; left -= part) {
    part = left < 8192 ? left : 8192;
    test_put_bytes(&file, 2, name, part - 1); /* and its zero */
  }
  test_put_number(&file, 1, 8);
  test_put_text(&file, 2, "test");
  test_put_text(&file, 3, "1.2");
  name[name_bytes] = '\0';
  test_put_text(&file, 6, name);
  test_put_number(&tensor, 1, 2);
  test_put_number(&tensor, 2, 7);
  test_put_bytes(&tensor, 7, "\1\2", 2);
  for (uint32_t kind = 0; kind < 4; kind++) {
    test_message attribute = {0};
    test_put_text(&attribute, 1,
                  kind == 0   ? "ints"
                  : kind == 1 ? "floats"
                  : kind == 2 ? "other"
                              : "body");
    test_put_text(&attribute, 13, name);
    if (kind == 0) test_put_bytes(&attribute, 8, "\1\2", 2);
    if (kind == 0) test_put_number(&attribute, 8, 3);
    if (kind == 1) test_put_bytes(&attribute, 7, "\0\0\x80\x3F", 4);
    if (kind == 2) test_put_bytes(&attribute, 5, tensor.data, tensor.size);
    if (kind == 3) test_put_message(&attribute, 6, &inner);
    test_put_message(&node, 5, &attribute);
  }
  test_put_text(&node, 7, "ai.onnx");
  test_put_text(&tensor, 8, "i.x");
  test_put_message(&graph, 5, &tensor);
  const uint32_t dims[] = {2, 2};
  test_put_floats(&graph, "t.x", 2, dims);
  test_put_node(&graph, "Relu", "n", "x", "r", &node);
  test_put_node(&graph, "DequantizeLinear", "q", "i.q,scale,zero", "d", NULL);
  test_put_node(&graph, "MatMul", "m", "r,d", "y", NULL);
  put_quantised(&graph);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_put_text(&graph, 14, name);
  test_put_message(&file, 7, &graph);
  test_put_text(&opset, 1, "ai.onnx");
  test_put_number(&opset, 2, 17);
  test_put_message(&file, 8, &opset);
  free(name);
  return file;
}

static heed_status open_full(heed_context *with, const heed_source *source) {
  const heed_onnx_desc desc = {sizeof desc, *source, "m.onnx", NULL, NULL};
  heed_onnx *file = NULL;
  const heed_status status = heed_onnx_open(with, &desc, &file, &error);
  if (status != HEED_OK) {
    assert_null(file);
    return status;
  }
  assert_string_equal(heed_onnx_summary(file),
                      "opset 17 by test 1.2, 3 nodes, 5 named weights, 1 of them dequantised");
  heed_onnx_destroy(file);
  return status;
}

static void test_reads(void **state) {
  (void)state;
  test_message whole = full_file(0, 5000);
  uint32_t failures = 0;
  heed_status status = HEED_IO;
  for (uint32_t fail_at = 1; status != HEED_OK; fail_at++, failures++) {
    failing_source failing = {&whole, 0, fail_at};
    const heed_source source = {whole.size, NULL, read_failing, &failing};
    status = open_full(context, &source);
    if (status != HEED_OK) assert_int_equal(status, HEED_IO);
  }
  assert_true(failures > 20);
  free(whole.data);
  /* the numbers of a weight, after the file was opened */
  whole = test_onnx_linear();
  failing_source failing = {&whole, 0, 0};
  const heed_onnx_desc desc = {
      sizeof desc, {whole.size, NULL, read_failing, &failing}, "m.onnx", NULL, NULL};
  heed_onnx *file;
  float number;
  assert_ok(heed_onnx_open(context, &desc, &file, &error));
  const heed_source made = heed_onnx_source(file);
  assert_ok(made.read(made.user, made.size - 4, &number, 4, &error));
  failing.fail_at = failing.reads + 1;
  assert_int_equal(made.read(made.user, made.size - 4, &number, 4, &error), HEED_IO);
  heed_onnx_destroy(file);
  free(whole.data);
}

/* Memory is taken in blocks of 64 KiB: the second begins at each of the lists in turn. */
static void test_memory_of_lists(void **state) {
  (void)state;
  for (size_t padding = 65536 - 9000; padding < 65536; padding += 16) {
    test_message whole = full_file(padding, 1);
    const heed_source source = {whole.size, whole.data, NULL, NULL};
    heed_status status = HEED_OUT_OF_MEMORY;
    for (size_t fail_at = 5; status != HEED_OK; fail_at++) {
      test_allocator allocator = {0};
      heed_context_desc desc = test_context_desc(&allocator);
      heed_context *other;
      assert_ok(heed_context_create(&desc, &other, &error));
      allocator.fail_at = allocator.total + fail_at;
      status = open_full(other, &source);
      heed_context_destroy(other);
      assert_int_equal(allocator.live, 0);
      if (status != HEED_OK) assert_int_equal(status, HEED_OUT_OF_MEMORY);
    }
    free(whole.data);
  }
}

/* The factor of a product, [2, 3] of each type, and the weight [3, 2] that it becomes. */
static void turned_gives(uint32_t type, const char *raw, size_t size, const float *expected) {
  test_message graph = {0}, tensor = {0};
  const uint32_t bias[] = {3};
  heed_onnx *file;
  heed_safetensors *tensors;
  float found[6];
  test_put_number(&tensor, 1, 2);
  test_put_number(&tensor, 1, 3);
  test_put_number(&tensor, 2, type);
  test_put_text(&tensor, 8, "onnx::MatMul_7");
  test_put_bytes(&tensor, 9, raw, size);
  test_put_message(&graph, 5, &tensor);
  test_put_node(&graph, "MatMul", "/layer/MatMul", "x,onnx::MatMul_7", "h", NULL);
  test_put_node(&graph, "Add", "/layer/Add", "layer.bias,h", "y", NULL);
  test_put_floats(&graph, "layer.bias", 1, bias);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message whole = test_onnx_file(&graph);
  assert_ok(open_bytes(whole.data, whole.size, &file));
  const heed_source source = heed_onnx_source(file);
  assert_ok(heed_safetensors_open(context, &source, "m.onnx", &tensors, &error));
  const heed_safetensors_tensor *weight = heed_safetensors_find(tensors, "layer.weight");
  assert_non_null(weight);
  assert_int_equal(weight->shape.dim[0], 3);
  assert_ok(heed_safetensors_read(tensors, weight, 0, 6, found, &error));
  for (int i = 0; i < 6; i++)
    if (found[i % 3 * 2 + i / 3] != expected[i])
      fail_msg("type %u, element %d: found %g, expected %g", type, i,
               (double)found[i % 3 * 2 + i / 3], (double)expected[i]);
  heed_safetensors_destroy(tensors);
  heed_onnx_destroy(file);
  free(whole.data);
}

static void test_turned(void **state) {
  (void)state;
  const float small[] = {1, -2, 7, 0, 3, -8}, positive[] = {1, 14, 7, 0, 3, 8};
  turned_gives(22, "\xE1\x07\x83", 3, small);
  turned_gives(21, "\xE1\x07\x83", 3, positive);
  turned_gives(3, "\1\xFE\7\0\3\xF8", 6, small);
  turned_gives(2, "\1\16\7\0\3\10", 6, positive);
  turned_gives(5, "\1\0\xFE\xFF\7\0\0\0\3\0\xF8\xFF", 12, small);
  turned_gives(6, "\1\0\0\0\xFE\xFF\xFF\xFF\7\0\0\0\0\0\0\0\3\0\0\0\xF8\xFF\xFF\xFF", 24, small);
  turned_gives(10, "\0\x3C\0\xC0\0\x47\0\0\0\x42\0\xC8", 12, small);
  turned_gives(16, "\x80\x3F\0\xC0\xE0\x40\0\0\x40\x40\0\xC1", 12, small);
  turned_gives(11,
               "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\xC0\0\0\0\0\0\0\x1C\x40\0\0\0\0\0\0\0\0"
               "\0\0\0\0\0\0\x08\x40\0\0\0\0\0\0\x20\xC0",
               48, small);
}

static void test_arguments(void **state) {
  (void)state;
  heed_onnx *file;
  heed_onnx_desc desc = {sizeof desc, {0, "", NULL, NULL}, "m.onnx", NULL, NULL};
  assert_fails(heed_onnx_open(context, NULL, &file, &error), HEED_INVALID_ARGUMENT,
               "onnx: NULL argument (expected context, desc and file)");
  assert_fails(heed_onnx_open(context, &desc, NULL, &error), HEED_INVALID_ARGUMENT,
               "NULL argument");
  desc.name = NULL;
  assert_fails(heed_onnx_open(context, &desc, &file, &error), HEED_INVALID_ARGUMENT,
               "onnx: NULL argument (expected a name)");
  desc.struct_size = 3;
  assert_fails(heed_onnx_open(context, &desc, &file, &error), HEED_INVALID_ARGUMENT, "struct_size");
  desc = (heed_onnx_desc){sizeof desc, {UINT64_MAX, "", NULL, NULL}, "m.onnx", NULL, NULL};
  assert_fails(heed_onnx_open(context, &desc, &file, &error), HEED_INVALID_ARGUMENT,
               "m.onnx: the source is too large");
  static const struct {
    const char *bytes;
    bool begins;
  } first[] = {{"\10\7\22\1", true},   {"\10\7\32\1", true},  {"\10\7\42\1", true},
               {"\10\7\62\1", true},   {"\10\7\72\1", true},  {"\10\7\102\1", true},
               {"\10\7\111\1", false}, {"\10\0\22\1", false}, {"\10\41\22\1", false},
               {"\11\7\22\1", false}};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    assert_int_equal(heed_onnx_begins(first[i].bytes, 4), first[i].begins);
  assert_false(heed_onnx_begins("\10\7\22", 3));
  assert_false(heed_onnx_begins("\10\7\22\0\0\0\0\0{", 9)); /* a header of .safetensors */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nameless_output),
                                     cmocka_unit_test(test_two_meanings),
                                     cmocka_unit_test(test_later_fields),
                                     cmocka_unit_test(test_truncated),
                                     cmocka_unit_test(test_wire),
                                     cmocka_unit_test(test_graphs),
                                     cmocka_unit_test(test_tensors),
                                     cmocka_unit_test(test_external),
                                     cmocka_unit_test(test_nested),
                                     cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_linear),
                                     cmocka_unit_test(test_work),
                                     cmocka_unit_test(test_meaningless_nodes),
                                     cmocka_unit_test(test_wire_types),
                                     cmocka_unit_test(test_damaged_messages),
                                     cmocka_unit_test(test_typed),
                                     cmocka_unit_test(test_elements),
                                     cmocka_unit_test(test_external_files),
                                     cmocka_unit_test(test_reads),
                                     cmocka_unit_test(test_external_constant),
                                     cmocka_unit_test(test_memory_of_lists),
                                     cmocka_unit_test(test_turned),
                                     cmocka_unit_test(test_arguments)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  const int failed = cmocka_run_group_tests_name("bad onnx", tests, NULL, NULL);
  heed_context_destroy(context);
  return failed;
}
