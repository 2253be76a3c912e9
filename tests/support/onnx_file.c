/* ONNX files made in memory. See onnx_file.h. */
#include "support/onnx_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory for so many bytes and one: theirs alone, so that reading past them shows, but of long
 * messages up to twice as much, as a sanitizer's realloc always copies. */
static size_t room(size_t size) {
  size_t most = (size_t)1 << 16;
  if (size < most) return size + 1;
  while (most <= size) most *= 2;
  return most;
}

static void put(test_message *to, const void *bytes, size_t size) {
  const bool fits = to->data && room(to->size + size) == room(to->size);
  unsigned char *grown = fits ? to->data : realloc(to->data, room(to->size + size));
  if (!grown) abort();
  if (size) memcpy(grown + to->size, bytes, size);
  to->data = grown;
  to->size += size;
}

static void put_varint(test_message *to, uint64_t number) {
  do {
    const unsigned char byte = (unsigned char)((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
    put(to, &byte, 1);
    number >>= 7;
  } while (number);
}

void test_put_number(test_message *to, uint32_t field, uint64_t number) {
  put_varint(to, (uint64_t)field << 3);
  put_varint(to, number);
}

void test_put_bytes(test_message *to, uint32_t field, const void *bytes, size_t size) {
  put_varint(to, (uint64_t)field << 3 | 2);
  put_varint(to, size);
  put(to, bytes, size);
}

void test_put_text(test_message *to, uint32_t field, const char *text) {
  test_put_bytes(to, field, text, strlen(text));
}

void test_put_message(test_message *to, uint32_t field, test_message *inner) {
  test_put_bytes(to, field, inner->data, inner->size);
  free(inner->data);
  *inner = (test_message){0};
}

static void put_names(test_message *node, uint32_t field, const char *names) {
  while (*names) {
    const size_t length = strcspn(names, ",");
    test_put_bytes(node, field, names, length);
    names += length + (names[length] == ',');
  }
}

void test_put_node(test_message *graph, const char *op, const char *name, const char *inputs,
                   const char *outputs, test_message *attributes) {
  test_put_node_in(graph, 1, op, name, inputs, outputs, attributes);
}

void test_put_node_in(test_message *to, uint32_t field, const char *op, const char *name,
                      const char *inputs, const char *outputs, test_message *attributes) {
  test_message node = {0};
  put_names(&node, 1, inputs);
  put_names(&node, 2, outputs);
  test_put_text(&node, 3, name);
  test_put_text(&node, 4, op);
  if (attributes) {
    put(&node, attributes->data, attributes->size);
    free(attributes->data);
    *attributes = (test_message){0};
  }
  test_put_message(to, field, &node);
}

void test_put_graph(test_message *attributes, const char *name, test_message *graph) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  test_put_message(&attribute, 6, graph);
  test_put_number(&attribute, 20, 5);
  test_put_message(attributes, 5, &attribute);
}

void test_put_integer(test_message *attributes, const char *name, int64_t value) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  test_put_number(&attribute, 3, (uint64_t)value);
  test_put_number(&attribute, 20, 2);
  test_put_message(attributes, 5, &attribute);
}

void test_put_integers(test_message *attributes, const char *name, uint32_t count,
                       const int64_t *values) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  for (uint32_t i = 0; i < count; i++) test_put_number(&attribute, 8, (uint64_t)values[i]);
  test_put_number(&attribute, 20, 7);
  test_put_message(attributes, 5, &attribute);
}

void test_put_float(test_message *attributes, const char *name, float value) {
  test_message attribute = {0};
  const unsigned char tag = 2 << 3 | 5; /* of 32 bits */
  test_put_text(&attribute, 1, name);
  put(&attribute, &tag, 1);
  put(&attribute, &value, sizeof value);
  test_put_number(&attribute, 20, 1);
  test_put_message(attributes, 5, &attribute);
}

void test_put_word(test_message *attributes, const char *name, const char *word) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  test_put_text(&attribute, 4, word);
  test_put_number(&attribute, 20, 3);
  test_put_message(attributes, 5, &attribute);
}

void test_put_raw(test_message *graph, const char *name, uint32_t type, uint32_t rank,
                  const uint32_t *dims, const void *bytes, size_t size) {
  test_message tensor = {0};
  for (uint32_t i = 0; i < rank; i++) test_put_number(&tensor, 1, dims[i]);
  test_put_number(&tensor, 2, type);
  test_put_text(&tensor, 8, name);
  test_put_bytes(&tensor, 9, bytes, size);
  test_put_message(graph, 5, &tensor);
}

void test_put_small(test_message *graph, const char *name, uint32_t type, uint32_t count,
                    const void *bytes, size_t size) {
  test_put_raw(graph, name, type, count ? 1 : 0, &count, bytes, size);
}

void test_put_floats(test_message *graph, const char *name, uint32_t rank, const uint32_t *dims) {
  test_message raw = {0};
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  for (uint32_t i = 0; i < count; i++) {
    const float value = 0.5f * (float)i;
    put(&raw, &value, sizeof value);
  }
  test_put_raw(graph, name, 1, rank, dims, raw.data, raw.size);
  free(raw.data);
}

void test_put_shaped(test_message *graph, uint32_t field, const char *name, uint32_t rank,
                     const uint32_t *dims) {
  test_put_typed(graph, field, name, 1, rank, dims);
}

void test_put_typed(test_message *graph, uint32_t field, const char *name, uint32_t data_type,
                    uint32_t rank, const uint32_t *dims) {
  test_message value = {0}, type = {0}, tensor = {0}, shape = {0};
  for (uint32_t i = 0; i < rank; i++) {
    test_message dimension = {0};
    if (dims[i]) test_put_number(&dimension, 1, dims[i]);
    test_put_message(&shape, 1, &dimension);
  }
  test_put_number(&tensor, 1, data_type);
  test_put_message(&tensor, 2, &shape);
  test_put_message(&type, 1, &tensor);
  test_put_text(&value, 1, name);
  test_put_message(&value, 2, &type);
  test_put_message(graph, field, &value);
}

void test_put_value(test_message *graph, uint32_t field, const char *name) {
  static const uint32_t dims[] = {2, 3};
  test_put_shaped(graph, field, name, 2, dims);
}

test_message test_onnx_file(test_message *graph) {
  test_message file = {0}, opset = {0};
  test_put_number(&file, 1, 8);
  test_put_text(&file, 2, "test");
  test_put_message(&file, 7, graph);
  test_put_number(&opset, 2, 17);
  test_put_message(&file, 8, &opset);
  return file;
}

test_message test_onnx_linear(void) {
  test_message graph = {0};
  const uint32_t weight[] = {3, 4}, bias[] = {4};
  test_put_node(&graph, "MatMul", "/layer/MatMul", "x,onnx::MatMul_7", "h", NULL);
  test_put_node(&graph, "Add", "/layer/Add", "layer.bias,h", "y", NULL);
  test_put_floats(&graph, "onnx::MatMul_7", 2, weight);
  test_put_floats(&graph, "layer.bias", 1, bias);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  return test_onnx_file(&graph);
}

test_message test_onnx_block(void) {
  test_message graph = {0}, axes = {0};
  const uint32_t matrix[] = {3, 3}, vector[] = {3}, one[] = {1};
  test_put_floats(&graph, "w", 2, matrix);
  test_put_floats(&graph, "b", 1, vector);
  test_put_floats(&graph, "c", 1, one);
  test_put_node(&graph, "MatMul", "/l/q/MatMul", "x,w", "q0", NULL);
  test_put_node(&graph, "Add", "/l/q/Add", "q0,b", "q1", NULL);
  test_put_node(&graph, "Gemm", "/l/k/Gemm", "x,w,b", "k0", NULL);
  test_put_integer(&axes, "axis", 0);
  test_put_node(&graph, "Transpose", "/l/t", "k0", "kt", NULL);
  test_put_node(&graph, "MatMul", "/l/MatMul", "q1,kt", "s", NULL);
  test_put_node(&graph, "Mul", "/l/Mul", "s,c", "m", NULL);
  test_put_node(&graph, "Softmax", "/l/Softmax", "m", "a", NULL);
  test_put_node(&graph, "MatMul", "/l/MatMul_1", "a,k0", "o", NULL);
  test_put_node(&graph, "Add", "/l/Add", "o,x", "r", NULL);
  test_put_node(&graph, "LayerNormalization", "/l/norm", "r,b,b", "n", NULL);
  test_put_node(&graph, "Erf", "/l/e", "n", "e", NULL);
  test_put_node(&graph, "Concat", "/l/c", "e,r", "d", &axes);
  test_put_node(&graph, "Split", "/l/s", "d", "y,z", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_put_value(&graph, 12, "z");
  return test_onnx_file(&graph);
}

void test_put_layer(test_message *graph, const char *from, const char *to) {
  test_message turned = {0};
  char names[8][16], inputs[48];
  static const char *const parts[8] = {"q", "k", "v", "t", "s", "a", "o", "p"};
  for (size_t i = 0; i < 8; i++) snprintf(names[i], sizeof names[i], "%s%s", to, parts[i]);
  for (size_t i = 0; i < 3; i++) {
    snprintf(inputs, sizeof inputs, "%s,w", from);
    test_put_node(graph, "MatMul", names[i], inputs, names[i], NULL);
  }
  test_put_integers(&turned, "perm", 3, (const int64_t[]){0, 2, 1});
  test_put_node(graph, "Transpose", "", names[1], names[3], &turned);
  snprintf(inputs, sizeof inputs, "%s,%s", names[0], names[3]);
  test_put_node(graph, "MatMul", "", inputs, names[4], NULL);
  test_put_node(graph, "Softmax", names[5], names[4], names[5], NULL);
  snprintf(inputs, sizeof inputs, "%s,%s", names[5], names[2]);
  test_put_node(graph, "MatMul", "", inputs, names[6], NULL);
  snprintf(inputs, sizeof inputs, "%s,w", names[6]);
  test_put_node(graph, "MatMul", "", inputs, names[7], NULL);
  snprintf(inputs, sizeof inputs, "%s,%s", names[7], from);
  test_put_node(graph, "Add", "", inputs, to, NULL);
}

void test_put_vision(test_message *graph, uint32_t side, uint32_t prefix) {
  const uint32_t image[] = {1, 3, side, side}, logits[] = {1, 3};
  test_put_vision_of(graph, "image", prefix);
  test_put_shaped(graph, 11, "image", 4, image);
  test_put_shaped(graph, 12, "logits", 2, logits);
}

void test_put_vision_of(test_message *graph, const char *image, uint32_t prefix) {
  char convolved[48];
  test_message strides = {0}, turned = {0}, joined = {0}, first = {0};
  const uint32_t kernel[] = {2, 3, 2, 2}, token[] = {1, prefix, 2},
                 positions[] = {1, prefix + 4, 2}, matrix[] = {2, 2}, classes[] = {2, 3},
                 three[] = {3};
  static const int64_t rows[] = {0, 2, -1}, zero = 0;
  snprintf(convolved, sizeof convolved, "%s,kernel", image);
  test_put_floats(graph, "kernel", 4, kernel);
  test_put_floats(graph, "cls", 3, token);
  test_put_floats(graph, "positions", 3, positions);
  test_put_floats(graph, "w", 2, matrix);
  test_put_floats(graph, "classes", 2, classes);
  test_put_raw(graph, "rows", 7, 1, three, rows, sizeof rows);
  test_put_raw(graph, "zero", 7, 0, NULL, &zero, sizeof zero);
  test_put_integers(&strides, "strides", 2, (const int64_t[]){2, 2});
  test_put_node(graph, "Conv", "c", convolved, "patches", &strides);
  test_put_node(graph, "Reshape", "r", "patches,rows", "flat", NULL);
  test_put_integers(&turned, "perm", 3, (const int64_t[]){0, 2, 1});
  test_put_node(graph, "Transpose", "t", "flat", "tokens", &turned);
  test_put_integer(&joined, "axis", 1);
  test_put_node(graph, "Concat", "j", "cls,tokens", "all", &joined);
  test_put_node(graph, "Add", "p", "all,positions", "x", NULL);
  test_put_layer(graph, "x", "y");
  test_put_layer(graph, "y", "z");
  test_put_integer(&first, "axis", 1);
  test_put_node(graph, "Gather", "g", "z,zero", "token", &first);
  test_put_node(graph, "MatMul", "m", "token,classes", "logits", NULL);
}

test_message test_onnx_vision(uint32_t side) {
  test_message graph = {0};
  test_put_vision(&graph, side, 1);
  return test_onnx_file(&graph);
}
