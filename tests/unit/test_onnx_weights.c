/* Weights of ONNX files made in memory: every stored form beside the numbers that it means, every
 * rule of names, and what is left out because nobody could say what it is. Scales are powers of
 * two, so that all is exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "onnx/file/message.h"
#include "support/onnx_file.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;

/* ------------------------------------------------------------------------------------- one file */

typedef struct opened {
  test_message bytes;
  heed_onnx *onnx;
  heed_safetensors *tensors;
  heed_source source;
} opened;

/* Takes the graph. */
static opened open_graph(test_message *graph) {
  opened file = {.bytes = test_onnx_file(graph)};
  const heed_onnx_desc desc = {
      sizeof desc, {file.bytes.size, file.bytes.data, NULL, NULL}, "m.onnx", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &file.onnx, &error));
  file.source = heed_onnx_source(file.onnx);
  assert_ok(heed_safetensors_open(context, &file.source, "m", &file.tensors, &error));
  return file;
}

static void close_file(opened *file) {
  heed_safetensors_destroy(file->tensors);
  heed_onnx_destroy(file->onnx);
  free(file->bytes.data);
}

/* The numbers, whole, then from every byte on, one to nine bytes at a time. */
static void expect(const opened *file, const char *name, heed_shape shape, const float *want) {
  const heed_safetensors_tensor *tensor = heed_safetensors_find(file->tensors, name);
  float found[512];
  unsigned char bytes[9];
  if (!tensor) fail_msg("no weight %s", name);
  if (!heed_shape_equal(&tensor->shape, &shape)) fail_msg("%s: another shape", name);
  assert_true(tensor->count <= 512);
  assert_ok(heed_safetensors_read(file->tensors, tensor, 0, tensor->count, found, &error));
  for (uint64_t i = 0; i < tensor->count; i++)
    if (found[i] != want[i])
      fail_msg("%s[%llu]: found %g, expected %g", name, (unsigned long long)i, (double)found[i],
               (double)want[i]);
  for (uint64_t at = 0; tensor->dtype == HEED_F32 && at < tensor->count * 4; at++)
    for (size_t size = 1; size <= sizeof bytes && at + size <= tensor->count * 4; size++) {
      assert_ok(file->source.read(file->source.user, tensor->offset + at, bytes, size, &error));
      assert_memory_equal(bytes, (const unsigned char *)want + at, size);
    }
}

/* Takes the graph; it has the weight. */
static void want(test_message *graph, const char *name, heed_shape shape, const float *values) {
  opened file = open_graph(graph);
  expect(&file, name, shape, values);
  close_file(&file);
}

/* Takes the graph; it opens, without a weight of that name. */
static void want_none(test_message *graph, const char *name) {
  opened file = open_graph(graph);
  if (heed_safetensors_find(file.tensors, name)) fail_msg("a weight %s that nobody knows", name);
  close_file(&file);
}

/* ------------------------------------------------------------------------------------ its parts */

#define DIMS(...) \
  (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (const uint32_t[]) { __VA_ARGS__ }
#define RAW(values) values, sizeof values

static const uint8_t stored[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; /* [3, 4] */
static const float half[] = {0.5f};
static const float by_column[] = {0.5f, 1.0f, 2.0f, 4.0f}, by_row[] = {0.5f, 1.0f, 2.0f};

/* (stored - zero) scale, with scales along an axis of [3, 4]; turned: [4, 3]. */
static void dequantise(float *to, const float *scales, int axis, float zero, bool turned) {
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 4; column++) {
      const float scale = scales[axis < 0 ? 0 : axis ? column : row];
      to[turned ? column * 3 + row : row * 4 + column] =
          ((float)stored[row * 4 + column] - zero) * scale;
    }
}

static void put_stored(test_message *graph, const char *name) {
  test_put_raw(graph, name, HEED_ONNX_UINT8, DIMS(3, 4), RAW(stored));
}

/* x and its product with w: node "/a/fc/MatMul"; then the bias "a.fc.bias". */
static void put_product(test_message *graph, const char *factor) {
  char inputs[64];
  const uint32_t bias[] = {4};
  snprintf(inputs, sizeof inputs, "x,%s", factor);
  test_put_node(graph, "MatMul", "/a/fc/MatMul", inputs, "h", NULL);
  test_put_node(graph, "Add", "/a/fc/Add", "h,a.fc.bias", "y", NULL);
  test_put_floats(graph, "a.fc.bias", 1, bias);
  test_put_value(graph, 11, "x");
}

/* w = DequantizeLinear(11, scale), and zero if there; "11" is no name of a weight. */
static void put_dequantised(test_message *graph, const char *zero, test_message *attributes) {
  char inputs[32];
  snprintf(inputs, sizeof inputs, "11,scale%s%s", zero ? "," : "", zero ? zero : "");
  put_stored(graph, "11");
  test_put_node(graph, "DequantizeLinear", "dq", inputs, "w", attributes);
}

/* ------------------------------------------------------------------------------ DequantizeLinear
 */

static void test_one_scale(void **state) {
  (void)state;
  test_message plain = {0}, zeroed = {0};
  const uint8_t seven[] = {7};
  float values[12];
  put_dequantised(&plain, NULL, NULL);
  test_put_raw(&plain, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  put_product(&plain, "w");
  dequantise(values, half, -1, 0, true);
  want(&plain, "a.fc.weight", HEED_SHAPE(4, 3), values);
  put_dequantised(&zeroed, "zero", NULL);
  test_put_raw(&zeroed, "scale", HEED_ONNX_FLOAT, DIMS(1), RAW(half));
  test_put_raw(&zeroed, "zero", HEED_ONNX_UINT8, DIMS(1), RAW(seven));
  put_product(&zeroed, "w");
  dequantise(values, half, -1, 7, true);
  want(&zeroed, "a.fc.weight", HEED_SHAPE(4, 3), values);
}

static void test_scales_of_an_axis(void **state) {
  (void)state;
  /* axis, or the default where it is 9 */
  static const struct {
    int64_t axis;
    bool columns;
  } cases[] = {{9, true}, {1, true}, {-1, true}, {0, false}, {-2, false}};
  const uint8_t zeros[] = {3, 3, 3, 3};
  float values[12];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, attributes = {0};
    const bool columns = cases[i].columns;
    if (cases[i].axis != 9) test_put_integer(&attributes, "axis", cases[i].axis);
    put_dequantised(&graph, "zero", &attributes);
    if (columns) {
      test_put_raw(&graph, "scale", HEED_ONNX_FLOAT, DIMS(1, 4), RAW(by_column));
      test_put_raw(&graph, "zero", HEED_ONNX_UINT8, DIMS(4), zeros, 4);
    } else {
      test_put_raw(&graph, "scale", HEED_ONNX_FLOAT, DIMS(3), RAW(by_row));
      test_put_raw(&graph, "zero", HEED_ONNX_UINT8, DIMS(3), zeros, 3);
    }
    put_product(&graph, "w");
    dequantise(values, columns ? by_column : by_row, columns, 3, true);
    want(&graph, "a.fc.weight", HEED_SHAPE(4, 3), values);
  }
}

/* The scales of blocks can be as many as an axis has: they are not the axis's. */
static void test_scales_of_no_axis(void **state) {
  (void)state;
  test_message few = {0}, zeros = {0}, beyond = {0}, blocks = {0}, square = {0}, axis = {0},
               block = {0}, none = {0};
  const uint8_t zero[] = {1, 2};
  put_dequantised(&few, NULL, NULL);
  test_put_raw(&few, "scale", HEED_ONNX_FLOAT, DIMS(3), RAW(by_row)); /* of the other axis */
  put_product(&few, "w");
  want_none(&few, "a.fc.weight");
  put_dequantised(&zeros, "zero", NULL);
  test_put_raw(&zeros, "scale", HEED_ONNX_FLOAT, DIMS(4), RAW(by_column));
  test_put_raw(&zeros, "zero", HEED_ONNX_UINT8, DIMS(2), RAW(zero));
  put_product(&zeros, "w");
  want_none(&zeros, "a.fc.weight");
  test_put_integer(&axis, "axis", 2);
  put_dequantised(&beyond, NULL, &axis);
  test_put_raw(&beyond, "scale", HEED_ONNX_FLOAT, DIMS(4), RAW(by_column));
  put_product(&beyond, "w");
  want_none(&beyond, "a.fc.weight");
  test_put_integer(&block, "block_size", 3);
  test_put_integer(&block, "axis", 0);
  put_dequantised(&blocks, NULL, &block);
  test_put_raw(&blocks, "scale", HEED_ONNX_FLOAT, DIMS(1, 4), RAW(by_column));
  put_product(&blocks, "w");
  want_none(&blocks, "a.fc.weight");
  put_dequantised(&square, NULL, NULL);
  test_put_raw(&square, "scale", HEED_ONNX_FLOAT, DIMS(2, 2), RAW(by_column));
  put_product(&square, "w");
  want_none(&square, "a.fc.weight");
  put_stored(&none, "11");
  test_put_value(&none, 11, "scale"); /* known when it runs */
  test_put_node(&none, "DequantizeLinear", "dq", "11,scale", "w", NULL);
  put_product(&none, "w");
  want_none(&none, "a.fc.weight");
}

/* Under the initializer's own name, without its end; of rows taken from a table too. */
/* The product, its weight's scale and its bias stand in a branch of an If, the numbers outside. The
 * other branch has the same names. */
static void test_scale_in_a_branch(void **state) {
  (void)state;
  float expected[12];
  test_message graph = {0}, branches[2] = {{0}, {0}}, of = {0};
  static const char *const names[] = {"then_branch", "else_branch"};
  dequantise(expected, half, -1, 0.0f, true);
  put_stored(&graph, "11");
  const unsigned char yes = 1;
  test_put_raw(&graph, "condition", HEED_ONNX_BOOL, 0, NULL, &yes, 1);
  const uint32_t bias[] = {4};
  test_put_raw(&branches[0], "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(&branches[0], "DequantizeLinear", "dq", "11,scale", "w", NULL);
  test_put_node(&branches[0], "MatMul", "/a/fc/MatMul", "x,w", "h", NULL);
  test_put_node(&branches[0], "Add", "/a/fc/Add", "h,a.fc.bias", "s", NULL);
  test_put_floats(&branches[0], "a.fc.bias", 1, bias);
  test_put_text(&branches[0], 12, "\x0A\x01s");
  test_put_node(&branches[1], "Neg", "n", "x", "w", NULL);
  test_put_node(&branches[1], "Neg", "n", "w", "s", NULL);
  test_put_text(&branches[1], 12, "\x0A\x01s");
  for (int b = 0; b < 2; b++) {
    test_message attribute = {0};
    test_put_text(&attribute, 1, names[b]);
    test_put_message(&attribute, 6, &branches[b]);
    test_put_number(&attribute, 20, 5);
    test_put_message(&of, 5, &attribute);
  }
  test_put_node(&graph, "If", "branch", "condition", "y", &of);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  want(&graph, "a.fc.weight", HEED_SHAPE(4, 3), expected);
}

static void test_dequantised_by_itself(void **state) {
  (void)state;
  test_message alone = {0}, taken = {0}, columns = {0}, unnamed = {0}, loose = {0};
  const int64_t rows[] = {2, 0};
  float values[12];
  put_stored(&alone, "e.weight_quantized");
  test_put_raw(&alone, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(&alone, "DequantizeLinear", "dq", "e.weight_quantized,scale", "w", NULL);
  dequantise(values, half, -1, 0, false);
  want(&alone, "e.weight", HEED_SHAPE(3, 4), values);
  put_stored(&taken, "e.weight_quantized");
  test_put_raw(&taken, "rows", HEED_ONNX_INT64, DIMS(2), RAW(rows));
  test_put_raw(&taken, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(&taken, "Gather", "g", "e.weight_quantized,rows", "some", NULL);
  test_put_node(&taken, "DequantizeLinear", "dq", "some,scale", "w", NULL);
  want(&taken, "e.weight", HEED_SHAPE(3, 4), values);
  /* three rows taken, each with a scale: as many as the table has */
  put_stored(&columns, "e.weight_quantized");
  test_put_raw(&columns, "rows", HEED_ONNX_INT64, DIMS(2), RAW(rows));
  test_put_raw(&columns, "scale", HEED_ONNX_FLOAT, DIMS(3), RAW(by_row));
  test_put_node(&columns, "Gather", "g", "e.weight_quantized,rows", "some", NULL);
  test_put_node(&columns, "DequantizeLinear", "dq", "some,scale", "w", NULL);
  want_none(&columns, "e.weight");
  put_stored(&unnamed, "/Constant_1_quantized");
  test_put_raw(&unnamed, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(&unnamed, "DequantizeLinear", "dq", "/Constant_1_quantized,scale", "w", NULL);
  want_none(&unnamed, "/Constant_1");
  test_put_value(&loose, 11, "x");
  test_put_raw(&loose, "rows", HEED_ONNX_INT64, DIMS(2), RAW(rows));
  test_put_raw(&loose, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(&loose, "Gather", "g", "x,rows", "some", NULL);
  test_put_node(&loose, "DequantizeLinear", "dq", "some,scale", "w", NULL);
  want_none(&loose, "x");
}

/* ---------------------------------------------------------------------------- products of integers
 */

/* y = Mul(Cast(op(x, 11, , zero)), scales), scales = Mul(of x, scale), and a bias. */
static void put_integers(test_message *graph, const char *op, const char *scales) {
  char name[32];
  const uint8_t five[] = {5};
  const uint32_t bias[] = {4};
  snprintf(name, sizeof name, "/a/fc/%s", op);
  test_put_raw(graph, "zero", HEED_ONNX_UINT8, 0, NULL, RAW(five));
  test_put_value(graph, 11, "x");
  test_put_value(graph, 11, "of_x");
  test_put_node(graph, op, name, "x,11,,zero", "i", NULL);
  test_put_node(graph, "Cast", "c", "i", "f", NULL);
  test_put_node(graph, "Mul", "/a/fc/Mul", scales, "scales", NULL);
  test_put_node(graph, "Mul", "/a/fc/Mul_1", "f,scales", "h", NULL);
  test_put_node(graph, "Add", "/a/fc/Add", "a.fc.bias,h", "y", NULL);
  test_put_floats(graph, "a.fc.bias", 1, bias);
}

static void test_products_of_integers(void **state) {
  (void)state;
  test_message matmul = {0}, columns = {0}, conv = {0}, cube = {0}, unscaled = {0}, two = {0};
  float values[12];
  put_stored(&matmul, "11");
  test_put_raw(&matmul, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  put_integers(&matmul, "MatMulInteger", "of_x,scale");
  dequantise(values, half, -1, 5, true);
  want(&matmul, "a.fc.weight", HEED_SHAPE(4, 3), values);
  /* a zero point for all, and a scale for each column: they must be as many */
  put_stored(&columns, "11");
  test_put_raw(&columns, "scale", HEED_ONNX_FLOAT, DIMS(4), RAW(by_column));
  put_integers(&columns, "MatMulInteger", "scale,of_x");
  want_none(&columns, "a.fc.weight");
  test_put_raw(&conv, "11", HEED_ONNX_UINT8, DIMS(3, 1, 2, 2), RAW(stored));
  test_put_raw(&conv, "scale", HEED_ONNX_FLOAT, DIMS(1), RAW(half));
  put_integers(&conv, "ConvInteger", "of_x,scale");
  dequantise(values, half, -1, 5, false);
  want(&conv, "a.fc.weight", HEED_SHAPE(3, 1, 2, 2), values);
  test_put_raw(&cube, "11", HEED_ONNX_UINT8, DIMS(3, 2, 2), RAW(stored));
  test_put_raw(&cube, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  put_integers(&cube, "MatMulInteger", "of_x,scale");
  want_none(&cube, "a.fc.weight");
  put_stored(&unscaled, "11");
  put_integers(&unscaled, "MatMulInteger", "of_x,of_x");
  want_none(&unscaled, "a.fc.weight");
  test_message running = {0}; /* a factor that is known when it runs */
  test_put_value(&running, 11, "11");
  test_put_raw(&running, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  put_integers(&running, "MatMulInteger", "of_x,scale");
  want_none(&running, "a.fc.weight");
  /* two constants: which is the weight's? */
  put_stored(&two, "11");
  test_put_raw(&two, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_raw(&two, "other", HEED_ONNX_FLOAT, 0, NULL, by_row + 2, 4);
  put_integers(&two, "MatMulInteger", "other,scale");
  want_none(&two, "a.fc.weight");
}

/* ----------------------------------------------------------------------------------------- blocks
 */

enum { ROWS = 3 };

typedef struct blocks {
  int64_t depth, rows, bits, size; /* attributes; bits 0: left out */
  const char *inputs;              /* "x,q,scale" and what follows */
} blocks;

/* y = MatMulNBits(x, q, scale ...) + bias: q [rows, blocks, bytes], each byte its index times 37.
 */
static void put_blocks(test_message *graph, const blocks *b) {
  test_message attributes = {0};
  const uint32_t bias[] = {ROWS};
  test_put_integer(&attributes, "K", b->depth);
  test_put_integer(&attributes, "N", b->rows);
  if (b->bits) test_put_integer(&attributes, "bits", b->bits);
  test_put_integer(&attributes, "block_size", b->size);
  test_put_value(graph, 11, "x");
  test_put_node(graph, "MatMulNBits", "/a/fc/MatMul_Q4", b->inputs, "h", &attributes);
  test_put_node(graph, "Add", "/a/fc/Add", "h,a.fc.bias", "y", NULL);
  test_put_floats(graph, "a.fc.bias", 1, bias);
}

typedef struct packed {
  uint8_t bytes[512], zeros[64];
  float scales[64], zero_floats[64];
  uint32_t blocks, block_bytes, zero_bytes; /* of a row; of a block; of a row */
} packed;

static void pack(packed *p, uint32_t depth, uint32_t bits, uint32_t size) {
  p->blocks = (depth + size - 1) / size;
  p->block_bytes = size * bits / 8;
  p->zero_bytes = (p->blocks * bits + 7) / 8;
  assert_true(ROWS * p->blocks <= 64 && ROWS * p->blocks * p->block_bytes <= 512);
  for (uint32_t i = 0; i < 512; i++) p->bytes[i] = (uint8_t)(i * 37);
  for (uint32_t i = 0; i < 64; i++) {
    p->zeros[i] = (uint8_t)(i * 91 + 5);
    p->scales[i] = (float)(1u << i % 5) / 8.0f;
    p->zero_floats[i] = (float)(i % 4) + 0.5f;
  }
}

/* Element k of a row, and zero point b of a row, read one bit at a time. */
static uint32_t bits_at(const uint8_t *bytes, uint32_t first, uint32_t bits) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < bits; i++)
    value |= (uint32_t)(bytes[(first + i) / 8] >> (first + i) % 8 & 1) << i;
  return value;
}

typedef enum zero_kind { NO_ZEROS, PACKED_ZEROS, FLOAT_ZEROS } zero_kind;

static void check_blocks(uint32_t depth, uint32_t bits, uint32_t size, zero_kind zeros) {
  packed p;
  test_message graph = {0};
  float values[512];
  pack(&p, depth, bits, size);
  const blocks b = {depth, ROWS, bits == 4 ? 0 : bits, size,
                    zeros ? "x,q,scale,zero" : "x,q,scale"};
  assert_true(ROWS * depth <= 512);
  for (uint32_t row = 0; row < ROWS; row++)
    for (uint32_t k = 0; k < depth; k++) {
      const uint32_t block = row * p.blocks + k / size;
      const uint32_t q = bits_at(p.bytes + block * p.block_bytes, k % size * bits, bits);
      const float zero = zeros == FLOAT_ZEROS ? p.zero_floats[block]
                         : zeros == PACKED_ZEROS
                             ? (float)bits_at(p.zeros + row * p.zero_bytes, k / size * bits, bits)
                             : (float)(1u << (bits - 1));
      values[row * depth + k] = ((float)q - zero) * p.scales[block];
    }
  test_put_raw(&graph, "q", HEED_ONNX_UINT8, DIMS(ROWS, p.blocks, p.block_bytes), p.bytes,
               ROWS * p.blocks * p.block_bytes);
  test_put_raw(&graph, "scale", HEED_ONNX_FLOAT, DIMS(ROWS * p.blocks), p.scales,
               ROWS * p.blocks * sizeof(float));
  if (zeros == PACKED_ZEROS)
    test_put_raw(&graph, "zero", HEED_ONNX_UINT8, DIMS(ROWS * p.zero_bytes), p.zeros,
                 ROWS * p.zero_bytes);
  if (zeros == FLOAT_ZEROS)
    test_put_raw(&graph, "zero", HEED_ONNX_FLOAT, DIMS(ROWS, p.blocks), p.zero_floats,
                 ROWS * p.blocks * sizeof(float));
  put_blocks(&graph, &b);
  want(&graph, "a.fc.weight", HEED_SHAPE(ROWS, depth), values);
}

static void test_blocks(void **state) {
  (void)state;
  for (uint32_t bits = 2; bits <= 8; bits *= 2)
    for (zero_kind zeros = NO_ZEROS; zeros <= FLOAT_ZEROS; zeros++) {
      check_blocks(32, bits, 16, zeros);
      check_blocks(37, bits, 16, zeros); /* the last block is not full */
      check_blocks(5, bits, 8, zeros);
      check_blocks(70, bits, 8, zeros);
    }
  check_blocks(170, 2, 512, NO_ZEROS); /* more than is read at a time */
}

/* Whose numbers are out of range, or of another number than its blocks. */
static void test_blocks_that_do_not_fit(void **state) {
  (void)state;
  static const char plain[] = "x,q,scale", zeroed[] = "x,q,scale,zero";
  static const struct {
    blocks b;
    uint32_t type, zero_type, zeros, scales; /* of q; of zero; how many */
  } cases[] = {
      {{0, ROWS, 4, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{INT64_C(1) << 31, ROWS, 4, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, 0, 4, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, INT64_C(1) << 31, 4, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 3, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 4, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 65544, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 17, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 16, "x,q,scale,,order"}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 16, "x,q,of_x"}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{48, ROWS, 4, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 16, plain}, HEED_ONNX_INT8, HEED_ONNX_UINT8, 3, 6},
      {{32, ROWS, 4, 16, plain}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 3, 5},
      {{32, ROWS, 4, 16, zeroed}, HEED_ONNX_UINT8, HEED_ONNX_UINT8, 4, 6},
      {{32, ROWS, 4, 16, zeroed}, HEED_ONNX_UINT8, HEED_ONNX_FLOAT, 4, 6},
  };
  packed p;
  pack(&p, 32, 4, 16);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0};
    test_put_value(&graph, 11, "order");
    test_put_value(&graph, 11, "of_x");
    test_put_raw(&graph, "q", cases[i].type, DIMS(ROWS, 2, 8), p.bytes, (size_t)ROWS * 16);
    test_put_raw(&graph, "scale", HEED_ONNX_FLOAT, DIMS(cases[i].scales), p.scales,
                 cases[i].scales * sizeof(float));
    if (cases[i].zero_type == HEED_ONNX_FLOAT)
      test_put_raw(&graph, "zero", HEED_ONNX_FLOAT, DIMS(cases[i].zeros), p.zero_floats,
                   cases[i].zeros * sizeof(float));
    else
      test_put_raw(&graph, "zero", HEED_ONNX_UINT8, DIMS(cases[i].zeros), p.zeros, cases[i].zeros);
    put_blocks(&graph, &cases[i].b);
    opened file = open_graph(&graph);
    if (heed_safetensors_find(file.tensors, "a.fc.weight")) fail_msg("case %zu was read", i);
    close_file(&file);
  }
}

/* ------------------------------------------------------------------------------------------ names
 */

/* A MatMul of this name, factor and bias, the sum behind so many casts: its weight's name, or ""
 * for none. */
static void want_name(const char *node, const char *factor, const char *bias, int hops,
                      const char *name) {
  test_message graph = {0};
  const uint32_t matrix[] = {3, 4}, vector[] = {4};
  char inputs[96], from[16] = "h", to[16];
  float values[12];
  for (int i = 0; i < 12; i++) values[i % 4 * 3 + i / 4] = 0.5f * (float)i;
  snprintf(inputs, sizeof inputs, "x,%s", factor);
  test_put_value(&graph, 11, "x");
  test_put_floats(&graph, factor, 2, matrix);
  test_put_node(&graph, "MatMul", node, inputs, "h", NULL);
  for (int i = 0; i < hops; i++) {
    snprintf(to, sizeof to, "h%d", i);
    test_put_node(&graph, i % 2 ? "Identity" : "Cast", "", from, to, NULL);
    memcpy(from, to, sizeof from);
  }
  test_put_floats(&graph, bias, 1, vector);
  snprintf(inputs, sizeof inputs, "%s,%s", from, bias);
  test_put_node(&graph, "Add", "", inputs, "y", NULL);
  opened file = open_graph(&graph);
  if (*name) expect(&file, name, HEED_SHAPE(4, 3), values);
  for (uint32_t i = 0; !*name && i < heed_safetensors_count(file.tensors); i++)
    if (heed_safetensors_get(file.tensors, i)->shape.rank == 2)
      fail_msg("a weight %s of node %s", heed_safetensors_get(file.tensors, i)->name, node);
  close_file(&file);
}

static void test_names(void **state) {
  (void)state;
  static const char anonymous[] = "onnx::MatMul_7", scope[] = "/e/layers/layers.0/q/MatMul";
  want_name(scope, "own.weight", "a.bias", 0, "own.weight");
  want_name(scope, anonymous, "a.bias", 0, "a.weight");
  want_name(scope, anonymous, "a.in_proj_bias", 0, "a.in_proj_weight");
  want_name(scope, anonymous, "a.bias", 1, "a.weight");
  want_name(scope, anonymous, "a.bias", 3, "a.weight");
  want_name(scope, anonymous, "a.bias", 4, "e.layers.0.q.weight"); /* too far */
  want_name(scope, anonymous, "a.other", 0, "e.layers.0.q.weight");
  want_name(scope, anonymous, "/a/bias", 0, "e.layers.0.q.weight");
  want_name(scope, "val_12", "onnx::bias", 0, "e.layers.0.q.weight");
  want_name(scope, "235", "42", 0, "e.layers.0.q.weight");
  want_name(scope, "/q/Constant", "val_1", 0, "e.layers.0.q.weight");
  want_name("e/q/MatMul", "235", "42", 0, "e.q.weight");
  want_name("/e/layer/layers.0/MatMul", "235", "42", 0, "e.layer.layers.0.weight");
  want_name("MatMul_12", "235", "42", 0, "");
  want_name("/MatMul", "235", "42", 0, "");
  want_name("", "235", "42", 0, "");
}

/* What is no product of a constant, or of another rank, has no name by its node. */
static void test_no_names(void **state) {
  (void)state;
  test_message values = {0}, cube = {0}, sum = {0}, three = {0};
  const uint32_t one[] = {4}, dims[] = {2, 3, 4};
  put_product(&values, "x");
  want_none(&values, "a.fc.weight");
  test_put_floats(&cube, "235", 3, dims);
  put_product(&cube, "235");
  want_none(&cube, "a.fc.weight");
  /* a sum of other things than products, or of more than two */
  test_put_value(&sum, 11, "x");
  test_put_floats(&sum, "a.bias", 1, one);
  test_put_node(&sum, "Relu", "/a/Relu", "x", "r", NULL);
  test_put_node(&sum, "Add", "/a/Add", "r,a.bias", "y", NULL);
  test_put_node(&sum, "Add", "/a/Add_1", "x,a.bias", "z", NULL);
  want_none(&sum, "a.weight");
  test_put_value(&three, 11, "x");
  test_put_floats(&three, "a.bias", 1, one);
  test_put_node(&three, "Add", "/a/Add", "x,a.bias,x", "y", NULL);
  test_put_node(&three, "Identity", "/a/I", "x,x", "z", NULL);
  want_none(&three, "a.weight");
}

/* A bias that two products have names the first's weight; the second's scope names its own. */
static void test_one_bias_of_two(void **state) {
  (void)state;
  test_message graph = {0}, same = {0};
  const uint32_t square[] = {3, 3}, vector[] = {3};
  float turned[9];
  for (int i = 0; i < 9; i++) turned[i % 3 * 3 + i / 3] = 0.5f * (float)i;
  for (int i = 0; i < 2; i++) {
    test_message *to = i ? &same : &graph;
    test_put_value(to, 11, "x");
    test_put_floats(to, "1", 2, square);
    test_put_floats(to, "2", 2, square);
    test_put_floats(to, "a.bias", 1, vector);
    test_put_node(to, "MatMul", "/a/MatMul", "x,1", "h", NULL);
    test_put_node(to, "Add", "/a/Add", "h,a.bias", "g", NULL);
    test_put_node(to, "MatMul", "/b/MatMul", i ? "g,1" : "g,2", "k", NULL);
    test_put_node(to, "Add", "/b/Add", "k,a.bias", "y", NULL);
  }
  want_none(&graph, "a.weight"); /* two matrices claim it */
  want(&same, "a.weight", HEED_SHAPE(3, 3), turned);
}

static void test_gemm_and_convolution(void **state) {
  (void)state;
  static const struct {
    const char *op;
    int64_t transposed;
    float alpha, beta;
    bool read;
  } cases[] = {{"Gemm", 0, 1, 1, true},
               {"Gemm", 1, 1, 1, true},
               {"Gemm", 1, 0.5f, 1, false},
               {"Gemm", 1, 1, 0.5f, false},
               {"Conv", 0, 1, 1, true}};
  const uint32_t square[] = {3, 3}, filters[] = {3, 3, 1, 1}, vector[] = {3};
  float values[9];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, attributes = {0};
    const bool gemm = *cases[i].op == 'G', turned = gemm && !cases[i].transposed;
    for (int k = 0; k < 9; k++) values[turned ? k % 3 * 3 + k / 3 : k] = 0.5f * (float)k;
    if (gemm) test_put_integer(&attributes, "transB", cases[i].transposed);
    if (gemm) test_put_float(&attributes, "alpha", cases[i].alpha);
    if (gemm) test_put_float(&attributes, "beta", cases[i].beta);
    test_put_value(&graph, 11, "x");
    test_put_floats(&graph, "7", gemm ? 2 : 4, gemm ? square : filters);
    test_put_floats(&graph, "a.bias", 1, vector);
    test_put_node(&graph, cases[i].op, "/a/node", "x,7,a.bias", "y", &attributes);
    if (!cases[i].read)
      want_none(&graph, "a.weight");
    else if (gemm)
      want(&graph, "a.weight", HEED_SHAPE(3, 3), values);
    else
      want(&graph, "a.weight", HEED_SHAPE(3, 3, 1, 1), values);
  }
}

/* Identity stands for weights that were stored once; a parameter that is no linear map's is not
 * turned; nor is a Gemm of more axes than two named. */
static void test_plain(void **state) {
  (void)state;
  test_message graph = {0};
  const uint32_t matrix[] = {3, 4};
  float values[12];
  for (int i = 0; i < 12; i++) values[i] = 0.5f * (float)i;
  test_put_value(&graph, 11, "x");
  test_put_floats(&graph, "proj", 2, matrix);
  test_put_floats(&graph, "12", 2, matrix);
  test_put_node(&graph, "Identity", "", "proj", "copy.weight", NULL);
  test_put_node(&graph, "Identity", "", "copy.weight", "13", NULL);
  test_put_node(&graph, "Identity", "", "x", "not_a_weight", NULL);
  test_put_node(&graph, "MatMul", "/a/MatMul", "x,proj", "y", NULL);
  opened file = open_graph(&graph);
  expect(&file, "proj", HEED_SHAPE(3, 4), values);
  expect(&file, "copy.weight", HEED_SHAPE(3, 4), values);
  assert_int_equal(heed_safetensors_count(file.tensors), 2);
  close_file(&file);
}

/* Floats of 8 bits: the weight is left out with a line in the log, and the others stay. */
static uint32_t warnings;
static void count_warnings(heed_log_level level, const char *line, void *user) {
  (void)user;
  warnings += level == HEED_LOG_WARNING && strstr(line, "is left out: its type is not read");
}

static void test_types_that_are_not_read(void **state) {
  (void)state;
  enum { COMPLEX64 = 14 };
  heed_context *usual = context;
  const heed_context_desc desc = {.struct_size = sizeof desc, .log = count_warnings};
  test_message graph = {0};
  assert_ok(heed_context_create(&desc, &context, &error));
  warnings = 0;
  test_put_raw(&graph, "11", COMPLEX64, DIMS(3, 4), RAW(stored));
  test_put_raw(&graph, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(&graph, "DequantizeLinear", "dq", "11,scale", "w", NULL);
  put_product(&graph, "w");
  opened file = open_graph(&graph);
  assert_null(heed_safetensors_find(file.tensors, "a.fc.weight"));
  assert_non_null(heed_safetensors_find(file.tensors, "a.fc.bias"));
  assert_true(warnings >= 1);
  close_file(&file);
  for (int zeros = 0; zeros < 2; zeros++) { /* the scale, then the zero point */
    static const uint8_t byte[] = {1};
    test_message other = {0};
    warnings = 0;
    put_dequantised(&other, "zero", NULL);
    test_put_raw(&other, "scale", zeros ? HEED_ONNX_FLOAT : COMPLEX64, 0, NULL,
                 zeros ? (const void *)half : byte, zeros ? sizeof half : sizeof byte);
    test_put_raw(&other, "zero", zeros ? COMPLEX64 : HEED_ONNX_UINT8, 0, NULL, RAW(byte));
    put_product(&other, "w");
    want_none(&other, "a.fc.weight");
    assert_true(warnings >= 1);
  }
  heed_context_destroy(context);
  context = usual;
}

/* ------------------------------------------------------------------------- what is not as it seems
 */

/* Parts that are not constants, or not there: no weight, and no fault. */
static void test_parts_that_are_none(void **state) {
  (void)state;
  static const struct {
    const char *op, *inputs;
  } nodes[] = {{"MatMulNBits", "x,x,scale"},
               {"MatMulNBits", "x,11,x"},
               {"Gemm", "x,x"},
               {"Gemm", "x,cube"},
               {"Conv", "x,x"},
               {"MatMul", "x"},
               {"DequantizeLinear", "x,x"},
               {"Mul", "x,x"},
               {"DequantizeLinear", "some,x"},
               {"DequantizeLinear", "some"},
               {"Identity", "11"}};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
    for (int outputs = 0; outputs < 2; outputs++) {
      test_message graph = {0};
      const uint32_t cube[] = {2, 3, 4}, vector[] = {4};
      test_put_value(&graph, 11, "x");
      put_stored(&graph, "11");
      test_put_floats(&graph, "cube", 3, cube);
      test_put_floats(&graph, "scale", 1, vector);
      test_put_floats(&graph, "a.bias", 1, vector);
      test_put_node(&graph, "Gather", "", "11,x", "some", NULL);
      test_put_node(&graph, nodes[i].op, "/a/n", nodes[i].inputs, outputs ? "h,more" : "", NULL);
      if (outputs) test_put_node(&graph, "Add", "", "h,a.bias", "y", NULL);
      want_none(&graph, "a.weight");
    }
}

/* Sums that name nothing: of nothing, of a Cast of two, a second of one product. */
static void test_sums_that_name_nothing(void **state) {
  (void)state;
  test_message empty = {0}, two = {0}, second = {0}, fused = {0}, attributes = {0};
  const uint32_t vector[] = {4}, matrix[] = {3, 4};
  float turned[12];
  for (int i = 0; i < 12; i++) turned[i % 4 * 3 + i / 4] = 0.5f * (float)i;
  test_put_value(&empty, 11, "x");
  test_put_floats(&empty, "a.bias", 1, vector);
  test_put_node(&empty, "Add", "", ",a.bias", "y", NULL);
  test_put_node(&empty, "Relu", "", "x", "", NULL);
  want_none(&empty, "a.weight");
  test_put_value(&two, 11, "x");
  test_put_floats(&two, "1", 2, matrix);
  test_put_floats(&two, "a.bias", 1, vector);
  test_put_node(&two, "MatMul", "", "x,1", "h", NULL);
  test_put_node(&two, "Cast", "", "h,h", "c", NULL);
  test_put_node(&two, "Add", "", "c,a.bias", "y", NULL);
  want_none(&two, "a.weight");
  test_put_value(&second, 11, "x");
  test_put_floats(&second, "1", 2, matrix);
  test_put_floats(&second, "a.bias", 1, vector);
  test_put_floats(&second, "b.bias", 1, vector);
  test_put_node(&second, "MatMul", "", "x,1", "h", NULL);
  test_put_node(&second, "Add", "", "h,a.bias", "y", NULL);
  test_put_node(&second, "Add", "", "b.bias,h", "z", NULL);
  opened file = open_graph(&second);
  expect(&file, "a.weight", HEED_SHAPE(4, 3), turned);
  assert_null(heed_safetensors_find(file.tensors, "b.weight"));
  close_file(&file);
  /* the bias of blocks is an input of their node */
  packed p;
  pack(&p, 16, 4, 16);
  test_put_integer(&attributes, "K", 16);
  test_put_integer(&attributes, "N", ROWS);
  test_put_integer(&attributes, "block_size", 16);
  test_put_value(&fused, 11, "x");
  test_put_raw(&fused, "q", HEED_ONNX_UINT8, DIMS(ROWS, 1, 8), p.bytes, (size_t)ROWS * 8);
  test_put_raw(&fused, "scale", HEED_ONNX_FLOAT, DIMS(ROWS), p.scales, ROWS * sizeof(float));
  test_put_floats(&fused, "b.bias", 1, (const uint32_t[]){ROWS});
  test_put_node(&fused, "MatMulNBits", "/a/n", "x,q,scale,,,b.bias", "y", &attributes);
  file = open_graph(&fused);
  assert_non_null(heed_safetensors_find(file.tensors, "b.weight"));
  close_file(&file);
}

/* A path of a type that .safetensors has not; a plain weight of the name that a product claims. */
static void test_plain_of_other_types(void **state) {
  (void)state;
  enum { INT4 = 22 };
  test_message graph = {0}, claimed = {0};
  const uint32_t matrix[] = {3, 4}, vector[] = {4};
  test_put_value(&graph, 11, "x");
  test_put_raw(&graph, "e.table", INT4, DIMS(2, 2), "\1\2", 2);
  test_put_node(&graph, "Identity", "", "e.table", "e.copy", NULL);
  opened file = open_graph(&graph);
  assert_int_equal(heed_safetensors_count(file.tensors), 0);
  close_file(&file);
  float turned[12];
  for (int i = 0; i < 12; i++) turned[i % 4 * 3 + i / 4] = 0.5f * (float)i;
  test_put_value(&claimed, 11, "x");
  test_put_floats(&claimed, "1", 2, matrix);
  test_put_floats(&claimed, "a.weight", 2, (const uint32_t[]){2, 2});
  test_put_floats(&claimed, "a.bias", 1, vector);
  test_put_node(&claimed, "MatMul", "", "x,1", "h", NULL);
  test_put_node(&claimed, "Add", "", "h,a.bias", "y", NULL);
  want(&claimed, "a.weight", HEED_SHAPE(4, 3), turned);
}

/* Values that are made twice, by any two; a weight with a name among the inputs is one value. */
static void test_values_made_twice(void **state) {
  (void)state;
  static const struct {
    const char *initializer, *other, *first, *second, *input, *input_2; /* "" or NULL: none */
    bool twice;
  } cases[] = {{"w", NULL, "", "", "w", NULL, false},  {"w", "w", "", "", NULL, NULL, true},
               {"w", NULL, "w", "", NULL, NULL, true}, {NULL, NULL, "v", "v", NULL, NULL, true},
               {NULL, NULL, "v", "", "v", NULL, true}, {NULL, NULL, "", "", "v", "v", true},
               {"w", NULL, "", "", "w", "w", false},   {NULL, NULL, "v", "", "u", NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0};
    const uint32_t matrix[] = {2, 3};
    test_put_value(&graph, 11, "x");
    if (cases[i].initializer) test_put_floats(&graph, cases[i].initializer, 2, matrix);
    if (cases[i].other) test_put_floats(&graph, cases[i].other, 2, matrix);
    char outputs[8];
    snprintf(outputs, sizeof outputs, "%s,%s", cases[i].first, cases[i].second);
    test_put_node(&graph, "Split", "", "x", outputs, NULL);
    if (cases[i].input) test_put_value(&graph, 11, cases[i].input);
    if (cases[i].input_2) test_put_value(&graph, 11, cases[i].input_2);
    test_message bytes = test_onnx_file(&graph);
    heed_onnx *onnx = NULL;
    const heed_onnx_desc desc = {
        sizeof desc, {bytes.size, bytes.data, NULL, NULL}, "m.onnx", NULL, NULL};
    const heed_status status = heed_onnx_open(context, &desc, &onnx, &error);
    if (status != (cases[i].twice ? HEED_INVALID_FILE : HEED_OK) ||
        (cases[i].twice && !strstr(error.message, "is made twice")))
      fail_msg("case %zu: %s (%s)", i, heed_status_name(status), error.message);
    heed_onnx_destroy(onnx);
    free(bytes.data);
  }
}

/* A Constant without a value, and names of names without end, are no weights. */
static void test_constants_that_are_none(void **state) {
  (void)state;
  test_message bare = {0}, chain = {0};
  test_put_node(&bare, "Constant", "", "", "w", NULL);
  put_product(&bare, "w");
  want_none(&bare, "a.fc.weight");
  test_put_floats(&chain, "0", 2, (const uint32_t[]){3, 4});
  for (int i = 0; i < 20; i++) {
    char from[8], to[8];
    snprintf(from, sizeof from, "%d", i);
    snprintf(to, sizeof to, "%d", i + 1);
    test_put_node(&chain, "Identity", "", from, to, NULL);
  }
  put_product(&chain, "20");
  want_none(&chain, "a.fc.weight");
}

/* ------------------------------------------------------------------------------------------ faults
 */

/* More elements than are read at a time: a matrix of so many columns, quantised as a whole. */
static void put_wide(test_message *graph, uint32_t columns, bool turned) {
  const uint32_t dims[] = {2, columns};
  uint8_t *bytes = calloc(2, columns);
  assert_non_null(bytes);
  for (uint32_t i = 0; i < 2 * columns; i++) bytes[i] = (uint8_t)(i * 7);
  test_put_raw(graph, turned ? "11" : "e.weight_quantized", HEED_ONNX_UINT8, 2, dims, bytes,
               (size_t)2 * columns);
  free(bytes);
  test_put_raw(graph, "scale", HEED_ONNX_FLOAT, 0, NULL, RAW(half));
  test_put_node(graph, "DequantizeLinear", "dq", turned ? "11,scale" : "e.weight_quantized,scale",
                "w", NULL);
  if (turned) put_product(graph, "w");
}

static void test_many_columns(void **state) {
  (void)state;
  enum { COLUMNS = 251 };
  for (int turned = 0; turned < 2; turned++) {
    static float values[4 * COLUMNS];
    test_message graph = {0};
    put_wide(&graph, 2 * COLUMNS, turned);
    for (uint32_t i = 0; i < 4 * COLUMNS; i++)
      values[turned ? i % (2 * COLUMNS) * 2 + i / (2 * COLUMNS) : i] =
          0.5f * (float)(uint8_t)(i * 7);
    opened file = open_graph(&graph);
    const heed_safetensors_tensor *tensor =
        heed_safetensors_find(file.tensors, turned ? "a.fc.weight" : "e.weight");
    float found[4 * COLUMNS];
    assert_non_null(tensor);
    assert_int_equal(tensor->count, 4 * COLUMNS);
    assert_ok(heed_safetensors_read(file.tensors, tensor, 0, 4 * COLUMNS, found, &error));
    assert_memory_equal(found, values, sizeof found);
    close_file(&file);
  }
}

typedef struct flaky {
  test_message *bytes;
  uint32_t reads, fail_at; /* 0: never */
} flaky;

static heed_status read_flaky(void *user, uint64_t offset, void *to, size_t count,
                              heed_error *failed) {
  flaky *source = user;
  if (++source->reads == source->fail_at) {
    *failed = (heed_error){HEED_IO, "a disk that is gone"};
    return HEED_IO;
  }
  memcpy(to, source->bytes->data + offset, count);
  return HEED_OK;
}

/* Opens the file and reads all its weights, whole and in odd parts. */
static heed_status read_all(heed_context *with, flaky *source) {
  const heed_onnx_desc desc = {
      sizeof desc, {source->bytes->size, NULL, read_flaky, source}, "m.onnx", NULL, NULL};
  heed_onnx *onnx = NULL;
  heed_safetensors *tensors = NULL;
  unsigned char *bytes = malloc(65536);
  assert_non_null(bytes);
  heed_status status = heed_onnx_open(with, &desc, &onnx, &error);
  const heed_source made = status == HEED_OK ? heed_onnx_source(onnx) : (heed_source){0};
  if (status == HEED_OK) status = heed_safetensors_open(with, &made, "m", &tensors, &error);
  for (uint32_t i = 0; status == HEED_OK && i < heed_safetensors_count(tensors); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(tensors, i);
    const size_t size = tensor->bytes < 65536 ? (size_t)tensor->bytes : 65536;
    status = made.read(made.user, tensor->offset, bytes, size, &error);
    if (status == HEED_OK && size > 9)
      status = made.read(made.user, tensor->offset + 2, bytes, 7, &error);
  }
  heed_safetensors_destroy(tensors);
  heed_onnx_destroy(onnx);
  free(bytes);
  return status;
}

/* Every read fails once, then every allocation. Frees the file. */
static void fail_each(test_message whole) {
  heed_status status = HEED_IO;
  for (uint32_t n = 1; status != HEED_OK; n++) {
    flaky source = {&whole, 0, n};
    status = read_all(context, &source);
    if (status != HEED_OK && status != HEED_IO) fail_msg("read %u: %s", n, error.message);
  }
  status = HEED_OUT_OF_MEMORY;
  for (size_t n = 1; status != HEED_OK; n++) {
    test_allocator allocator = {0};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_context *other;
    flaky source = {&whole, 0, 0};
    assert_ok(heed_context_create(&desc, &other, &error));
    allocator.fail_at = allocator.total + n;
    status = read_all(other, &source);
    heed_context_destroy(other);
    assert_int_equal(allocator.live, 0);
    if (status != HEED_OK && status != HEED_OUT_OF_MEMORY)
      fail_msg("allocation %zu: %s", n, error.message);
  }
  free(whole.data);
}

/* Blocks with scales and zero points by the thousand, so that each list is an allocation. */
static test_message many_blocks(zero_kind zeros) {
  enum { MANY = 6, DEPTH = 22400, SIZE = 16, BLOCKS = DEPTH / SIZE, BYTES = SIZE / 2 };
  static uint8_t bytes[MANY * BLOCKS * BYTES];
  static float floats[MANY * BLOCKS];
  test_message graph = {0};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) floats[i] = 0.5f;
  test_put_raw(&graph, "q", HEED_ONNX_UINT8, DIMS(MANY, BLOCKS, BYTES), RAW(bytes));
  test_put_raw(&graph, "scale", HEED_ONNX_FLOAT, DIMS(MANY * BLOCKS), RAW(floats));
  if (zeros == FLOAT_ZEROS)
    test_put_raw(&graph, "zero", HEED_ONNX_FLOAT, DIMS(MANY * BLOCKS), RAW(floats));
  if (zeros == PACKED_ZEROS)
    test_put_raw(&graph, "zero", HEED_ONNX_UINT8, DIMS(MANY * BLOCKS / 2), bytes,
                 MANY * BLOCKS / 2);
  const blocks b = {DEPTH, MANY, 4, SIZE, zeros ? "x,q,scale,zero" : "x,q,scale"};
  put_blocks(&graph, &b);
  return test_onnx_file(&graph);
}

static void test_faults(void **state) {
  (void)state;
  test_message wide = {0}, turned = {0}, nodes = {0};
  for (zero_kind zeros = NO_ZEROS; zeros <= FLOAT_ZEROS; zeros++) fail_each(many_blocks(zeros));
  put_wide(&wide, 500, false);
  fail_each(test_onnx_file(&wide));
  put_wide(&turned, 500, true);
  fail_each(test_onnx_file(&turned));
  /* nodes by the thousand, so that each list of the index and of names is an allocation */
  test_put_value(&nodes, 11, "x");
  for (int i = 0; i < 17000; i++) {
    char to[16];
    snprintf(to, sizeof to, "v%d", i);
    test_put_node(&nodes, "R", "", "x", to, NULL);
  }
  fail_each(test_onnx_file(&nodes));
}

/* ------------------------------------------------------------------------------------------- main
 */

static int set_up(void **state) {
  (void)state;
  return heed_context_create(NULL, &context, &error) == HEED_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  heed_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_scale),
      cmocka_unit_test(test_scales_of_an_axis),
      cmocka_unit_test(test_scales_of_no_axis),
      cmocka_unit_test(test_scale_in_a_branch),
      cmocka_unit_test(test_dequantised_by_itself),
      cmocka_unit_test(test_products_of_integers),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_blocks_that_do_not_fit),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_no_names),
      cmocka_unit_test(test_one_bias_of_two),
      cmocka_unit_test(test_gemm_and_convolution),
      cmocka_unit_test(test_plain),
      cmocka_unit_test(test_types_that_are_not_read),
      cmocka_unit_test(test_parts_that_are_none),
      cmocka_unit_test(test_sums_that_name_nothing),
      cmocka_unit_test(test_plain_of_other_types),
      cmocka_unit_test(test_values_made_twice),
      cmocka_unit_test(test_constants_that_are_none),
      cmocka_unit_test(test_many_columns),
      cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests_name("onnx_weights", tests, set_up, tear_down);
}
