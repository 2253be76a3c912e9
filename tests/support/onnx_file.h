/* ONNX files made in memory for tests: fields of protocol buffers, one after another. */
#ifndef HEED_TESTS_SUPPORT_ONNX_FILE_H
#define HEED_TESTS_SUPPORT_ONNX_FILE_H

#include "support/weights.h"

/* A message that grows. Free data. */
typedef test_bytes test_message;

void test_put_number(test_message *to, uint32_t field, uint64_t number);
void test_put_bytes(test_message *to, uint32_t field, const void *bytes, size_t size);
void test_put_text(test_message *to, uint32_t field, const char *text);
/* Puts the message in, and frees it. */
void test_put_message(test_message *to, uint32_t field, test_message *inner);

/* GraphProto.node, with comma-separated inputs and outputs; `attributes`, if not NULL, is put in
 * and freed. */
void test_put_node(test_message *graph, const char *op, const char *name, const char *inputs,
                   const char *outputs, test_message *attributes);
/* The same as this field of a message: FunctionProto.node is 7. */
void test_put_node_in(test_message *to, uint32_t field, const char *op, const char *name,
                      const char *inputs, const char *outputs, test_message *attributes);
/* AttributeProto as a field of a node. */
void test_put_graph(test_message *attributes, const char *name, test_message *graph);
void test_put_integer(test_message *attributes, const char *name, int64_t value);
void test_put_integers(test_message *attributes, const char *name, uint32_t count,
                       const int64_t *values);
void test_put_float(test_message *attributes, const char *name, float value);
/* A text. */
void test_put_word(test_message *attributes, const char *name, const char *word);
/* GraphProto.initializer of this data type, of little-endian bytes in raw_data. */
void test_put_raw(test_message *graph, const char *name, uint32_t type, uint32_t rank,
                  const uint32_t *dims, const void *bytes, size_t size);
/* The same of one axis of `count`, or without axes where count is 0. */
void test_put_small(test_message *graph, const char *name, uint32_t type, uint32_t count,
                    const void *bytes, size_t size);
/* GraphProto.initializer of floats 0, 0.5, 1 ..., in raw_data. */
void test_put_floats(test_message *graph, const char *name, uint32_t rank, const uint32_t *dims);
/* GraphProto.input (field 11) or output (12), of floats; a size of 0 is left open. */
void test_put_shaped(test_message *graph, uint32_t field, const char *name, uint32_t rank,
                     const uint32_t *dims);
/* The same of another data type. */
void test_put_typed(test_message *graph, uint32_t field, const char *name, uint32_t data_type,
                    uint32_t rank, const uint32_t *dims);
/* The same of [2, 3]. */
void test_put_value(test_message *graph, uint32_t field, const char *name);
/* The whole file of a graph, which is freed: IR version 8, opset 17. */
test_message test_onnx_file(test_message *graph);
/* A file with what the lowering joins: maps of x [2, 3], an attention between them, a residual, a
 * norm; outputs y, z. */
test_message test_onnx_block(void);
/* A file with a linear map: x W + b, W [3, 4] anonymous, b "layer.bias". */
test_message test_onnx_linear(void);

/* One head over tokens [B, T, C] by the weights "w" [C, C], and what it adds to them; its weights
 * are
 * "<to>a". */
void test_put_layer(test_message *graph, const char *from, const char *to);
/* A vision transformer of two layers and three classes: `prefix` tokens and four patches of 2 x 2
 * pixels. Its image is side x side; 0 leaves both open, and the positions are for 4 x 4. */
void test_put_vision(test_message *graph, uint32_t side, uint32_t prefix);
/* The same of the value `image` [1, 3, 4, 4], without input and output. */
void test_put_vision_of(test_message *graph, const char *image, uint32_t prefix);
/* A file with it alone, and one token before the patches. */
test_message test_onnx_vision(uint32_t side);

#endif
