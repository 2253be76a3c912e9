/* ONNX files that are hostile or damaged: each gets its sentence. And what a sound small one gives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/safetensors.h"
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

/* Each cut is an error, except where what is left is a file without the operator sets. */
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
  assert_true(refused + 2 >= whole.size);
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
  test_message alone = {0}, nowhere = {0}, number = {0}, length = {0};
  test_message *const all[] = {&alone, &nowhere, &number, &length};
  for (size_t i = 0; i < 4; i++) {
    test_put_number(all[i], 1, 2);
    test_put_number(all[i], 2, 1);
    test_put_number(all[i], 14, 1);
  }
  put_pair(&alone, "location", "../w.bin");
  refuse_tensor(&alone, HEED_UNSUPPORTED, "is in another file (found ../w.bin");
  refuse_tensor(&nowhere, HEED_INVALID_FILE, "external data without a location");
  put_pair(&number, "offset", "12x");
  refuse_tensor(&number, HEED_INVALID_FILE, "invalid offset or length");
  put_pair(&length, "location", "w.bin");
  put_pair(&length, "length", "9");
  refuse_tensor(&length, HEED_INVALID_FILE, "wrong size (found 9 bytes, expected 8)");
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
static void test_memory(void **state) {
  (void)state;
  test_message whole = test_onnx_linear();
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
static heed_status multiply_with(uint64_t most_steps) {
  static const unsigned char input[] =
      "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}      "
      " \0\0\x80\x3F\0\0\0\x40\0\0\0\xBF\0\0\x80\x3F\0\0\x80\x3E\0\0\0\0";
  test_message graph = {0};
  const uint32_t dims[] = {3, 1000};
  test_put_floats(&graph, "w", 2, dims);
  test_put_node(&graph, "MatMul", "product", "x,w", "y", NULL);
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
  (void)state;
  assert_ok(multiply_with(0));
  assert_ok(multiply_with(20000));
  assert_fails(multiply_with(10000), HEED_UNSUPPORTED,
               "node 0 (MatMul product): the graph computes too much");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_truncated), cmocka_unit_test(test_wire),
      cmocka_unit_test(test_graphs),    cmocka_unit_test(test_tensors),
      cmocka_unit_test(test_external),  cmocka_unit_test(test_nested),
      cmocka_unit_test(test_memory),    cmocka_unit_test(test_linear),
      cmocka_unit_test(test_work)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  const int failed = cmocka_run_group_tests_name("bad onnx", tests, NULL, NULL);
  heed_context_destroy(context);
  return failed;
}
