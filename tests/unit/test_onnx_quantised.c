/* ONNX graphs that round to 8 bits, on heed's kernels beside the same graph in double. */
#include "support/onnx_pair.h"

/* x by whole numbers [3, 2] after a rounding to 8 bits, as exporters of q8 files write it. */
static test_message dynamic_file(void) {
  static const float scale = 0.01f;
  static const signed char weight[] = {100, -3, 7, 55, -128, 20};
  test_message graph = {0}, tensor = {0};
  test_put_small(&graph, "t", 1, 0, &scale, sizeof scale);
  test_put_number(&tensor, 1, 3);
  test_put_number(&tensor, 1, 2);
  test_put_number(&tensor, 2, 3);
  test_put_text(&tensor, 8, "w");
  test_put_bytes(&tensor, 9, weight, sizeof weight);
  test_put_message(&graph, 5, &tensor);
  test_put_node(&graph, "DynamicQuantizeLinear", "quantise", "x", "q,s,z", NULL);
  return graph;
}

static void put_product(test_message *graph, const char *operands, const char *scales) {
  test_message cast = {0};
  test_put_integer(&cast, "to", 1);
  test_put_node(graph, "Mul", "scales", "s,t", "st", NULL);
  test_put_node(graph, "MatMulInteger", "product", operands, "p", NULL);
  test_put_node(graph, "Cast", "floats", "p", "f", &cast);
  test_put_node(graph, "Mul", "back", scales, "y", NULL);
}

/* Rounding is done as the file says, but for products that the scale of a dynamic quantisation
 * multiplies again. */
static void test_rounded(void **state) {
  static const float scale = 0.0041f, scales[] = {0.004f, 0.3f, 0.007f};
  static const unsigned char zero = 3;
  static const signed char zeros[] = {-3, 0, 100};
  test_message one = {0}, several = {0}, whole = {0};
  (void)state;
  test_put_small(&one, "s", 1, 0, &scale, sizeof scale);
  test_put_small(&one, "z", 2, 0, &zero, 1);
  test_put_node(&one, "QuantizeLinear", "round", "x,s,z", "q", NULL);
  test_put_node(&one, "DequantizeLinear", "back", "q,s,z", "y", NULL);
  check_rounded(&one, "y", 1e-6, 0);
  test_put_small(&several, "s", 1, 3, scales, sizeof scales);
  test_put_small(&several, "z", 3, 3, zeros, sizeof zeros);
  test_put_node(&several, "QuantizeLinear", "round", "x,s,z", "q", NULL);
  test_put_node(&several, "DequantizeLinear", "back", "q,s,z", "y", NULL);
  check_rounded(&several, "y", 1e-6, 0);
  test_put_node(&whole, "DynamicQuantizeLinear", "quantise", "x", "q,s,z", NULL);
  test_put_node(&whole, "DequantizeLinear", "back", "q,s,z", "y", NULL);
  check_rounded(&whole, "ys", 1e-6, 0);
  /* the scale multiplies again: the value before is taken, within half a step of 2.5 / 255 */
  test_message left_out = dynamic_file(), kept = dynamic_file(), squared = dynamic_file();
  put_product(&left_out, "q,w,z", "f,st");
  check_rounded(&left_out, "y", 3 * 1.28 * 1.25 / 255, 1);
  /* ... and is an output too, or is not what multiplies: it stays */
  put_product(&kept, "q,w,z", "f,st");
  check_rounded(&kept, "ys", 1e-6, 0);
  put_product(&squared, "q,w,z", "f,f");
  check_rounded(&squared, "y", 1e-6, 0);
  /* a zero point of each column, as files of transformers.js have it */
  test_message columns = dynamic_file(), rounded = dynamic_file();
  test_put_small(&columns, "v", 3, 2, zeros, 2);
  put_product(&columns, "q,w,z,v", "f,st");
  check_rounded(&columns, "y", 3 * 1.28 * 1.25 / 255, 1);
  test_put_small(&rounded, "v", 3, 2, zeros, 2);
  put_product(&rounded, "q,w,z,v", "f,st");
  check_rounded(&rounded, "ys", 1e-6, 0);
}

/* A large constant with a scale of each block of two rows: x [2, 3] by it. */
static void test_blocks(void **state) {
  (void)state;
  enum { COLUMNS = 2048 };
  static const uint32_t matrix[] = {3, COLUMNS}, blocks[] = {2, COLUMNS};
  static signed char weight[3 * COLUMNS];
  static float scales[2 * COLUMNS];
  test_message graph = {0}, attributes = {0};
  for (int i = 0; i < 3 * COLUMNS; i++) weight[i] = (signed char)(i * 37 % 256 - 128);
  for (int i = 0; i < 2 * COLUMNS; i++) scales[i] = 0.01f + 0.0001f * (float)(i % 97);
  test_put_raw(&graph, "q", 3, 2, matrix, weight, sizeof weight);
  test_put_raw(&graph, "s", 1, 2, blocks, scales, sizeof scales);
  test_put_integer(&attributes, "axis", 0);
  test_put_integer(&attributes, "block_size", 2);
  test_put_node(&graph, "DequantizeLinear", "back", "q,s", "w", &attributes);
  test_put_node(&graph, "MatMul", "product", "x,w", "y", NULL);
  check_rounded(&graph, "y", 1e-5, 0);
}

/* Whole numbers are divided otherwise than floats. */
static void test_whole(void **state) {
  (void)state;
  test_message graph = {0};
  static const unsigned char two = 2;
  static const float scale = 0.1f;
  heed_onnx *onnx;
  heed_onnx_result *result;
  test_put_small(&graph, "s", 1, 0, &scale, sizeof scale);
  test_put_small(&graph, "z", 2, 0, &two, 1);
  test_put_node(&graph, "QuantizeLinear", "round", "x,s,z", "q", NULL);
  test_put_node(&graph, "Div", "half", "q,z", "h", NULL);
  test_put_node(&graph, "DequantizeLinear", "back", "h,s,z", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {sizeof input - 1, input, NULL, NULL},
                                       .backend = backend};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_fails(heed_onnx_evaluate(onnx, &how, &result, &error), HEED_UNSUPPORTED,
               "node 1 (Div half): computed whole numbers have no kernel");
  heed_onnx_destroy(onnx);
  free(file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounded), cmocka_unit_test(test_blocks),
                                     cmocka_unit_test(test_whole)};
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
