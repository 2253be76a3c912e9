/* ONNX graphs that have no kernel, do not fit or are too large: each is refused with its node. */
#include <stdio.h>

#include "support/onnx_pair.h"

/* A node of x [2, 3] that has no kernel, or does not fit; `on` NULL: in double. */
static void refuse_on(heed_backend *on, const char *op, const char *inputs,
                      test_message *attributes, heed_status status, const char *part) {
  static const uint32_t matrix[] = {4, 4}, vector[] = {3};
  test_message graph = {0};
  test_put_floats(&graph, "m", 2, matrix);
  test_put_floats(&graph, "v", 1, vector);
  test_put_node(&graph, op, "one", inputs, "y", attributes);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  heed_onnx *onnx;
  heed_onnx_result *result;
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {sizeof input - 1, input, NULL, NULL},
                                       .most_steps = 1000,
                                       .backend = on};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_fails(heed_onnx_evaluate(onnx, &how, &result, &error), status, part);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static void refuse(const char *op, const char *inputs, heed_status status, const char *part) {
  refuse_on(backend, op, inputs, NULL, status, part);
}

/* An attribute that no op reads, and one of another type than its name's, would change what a node
 * means without a word; one that is turned off, or changes nothing, does not. */
static void test_attributes(void **state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    heed_backend *on = way ? backend : NULL;
    test_message unknown = {0}, whole = {0}, real = {0}, turned = {0}, fine = {0}, scale = {0};
    test_put_integer(&unknown, "wrap", 1);
    refuse_on(on, "Softmax", "x", &unknown, HEED_UNSUPPORTED,
              "node 0 (Softmax one): attribute wrap is not supported");
    test_put_float(&real, "axis", 0.0f);
    refuse_on(on, "Softmax", "x", &real, HEED_INVALID_FILE,
              "node 0 (Softmax one): attribute axis is of another type");
    test_put_integer(&whole, "min", 1);
    refuse_on(on, "Clip", "x", &whole, HEED_INVALID_FILE, "attribute min is of another type");
    test_put_integer(&turned, "do_rotary", 1);
    refuse_on(on, "Softmax", "x", &turned, HEED_UNSUPPORTED,
              "attribute do_rotary is not supported");
    test_put_integer(&fine, "stash_type", 1);
    refuse_on(on, "LayerNormalization", "x,m", &fine, on ? HEED_UNSUPPORTED : HEED_INVALID_FILE,
              on ? "by computed factors" : "scale and bias do not fit");
    test_message others = {0}, masked = {0}, axes = {0}, contributed = {0};
    test_put_integer(&others, "transA", 1);
    refuse_on(on, "MatMul", "x,m", &others, HEED_INVALID_FILE,
              "attribute transA is none of this op in opset 17 (expected no attribute)");
    test_put_integer(&masked, "is_causal", 1);
    refuse_on(on, "Softmax", "x", &masked, HEED_INVALID_FILE, "is_causal is none of this op");
    test_put_integers(&axes, "axes", 1, (const int64_t[]){0}); /* an input since opset 13 */
    refuse_on(on, "ReduceSum", "x", &axes, HEED_INVALID_FILE, "axes is none of this op");
    test_put_text(&contributed, 7, "com.microsoft");
    refuse_on(on, "Add", "x,x", &contributed, HEED_UNSUPPORTED, "found com.microsoft.Add of opset");
    test_message old = {0};
    test_put_integer(&old, "broadcast", 1);
    test_put_integer(&old, "axis", 0);
    refuse_on(on, "Add", "x,v", &old, HEED_UNSUPPORTED, "a broadcast along an axis");
    test_put_float(&scale, "scale", 0.5f);
    test_put_text(&scale, 7, "com.microsoft");
    refuse_on(on, "RotaryEmbedding", "x,m,m,m", &scale, HEED_UNSUPPORTED, "of rotations");
  }
}

static void test_refused(void **state) {
  (void)state;
  refuse("Acos", "x", HEED_UNSUPPORTED, "node 0 (Acos one): op has no kernel (found Acos of opset");
  refuse("MatMul", "x,m", HEED_INVALID_FILE, "node 0 (MatMul one): its factors do not fit");
  refuse("Add", "x,m", HEED_INVALID_FILE, "node 0 (Add one): its inputs do not fit");
  refuse("Reshape", "x,x", HEED_UNSUPPORTED,
         "node 0 (Reshape one): a computed shape has no kernel");
  refuse("Conv", "x,m", HEED_UNSUPPORTED, "node 0 (Conv one): a convolution by a computed kernel");
  refuse("Softmax", "", HEED_INVALID_FILE,
         "node 0 (Softmax one): wrong number of inputs (found 0, expected 1 to 1)");
}

/* A small file that asks for 2^40 elements is a bad file, not a lack of memory. */
static void test_huge(void **state) {
  static const int64_t sides[] = {1 << 20, 1 << 20};
  (void)state;
  for (int way = 0; way < 2; way++) {
    test_message graph = {0};
    test_put_small(&graph, "sides", 7, 2, sides, sizeof sides);
    test_put_node(&graph, "ConstantOfShape", "wide", "sides", "c", NULL);
    test_put_node(&graph, "ReduceSum", "sum", "c", "r", NULL);
    test_put_node(&graph, "Add", "add", "x,r", "y", NULL);
    test_put_value(&graph, 11, "x");
    test_put_value(&graph, 12, "y");
    test_message file = test_onnx_file(&graph);
    heed_onnx *onnx;
    heed_onnx_result *result;
    const heed_onnx_desc desc = {
        sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
    const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                         .inputs = {sizeof input - 1, input, NULL, NULL},
                                         .backend = way ? backend : NULL};
    assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
    assert_fails(heed_onnx_evaluate(onnx, &how, &result, &error), HEED_UNSUPPORTED,
                 "node 0 (ConstantOfShape wide): its values are too large (expected at most");
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* A value that is reached in 2^40 ways is refused at once. */
static void test_many_ways(void **state) {
  (void)state;
  static const float half = 0.25f;
  test_message graph = {0};
  heed_onnx *onnx;
  heed_onnx_result *result;
  test_put_small(&graph, "h", 1, 0, &half, sizeof half);
  test_put_node(&graph, "Greater", "more", "x,h", "g", NULL);
  test_put_node(&graph, "ArgMax", "index", "x", "v0", NULL);
  for (int i = 0; i < 40; i++) {
    char inputs[32], output[16];
    snprintf(inputs, sizeof inputs, "g,v%d,v%d", i, i);
    snprintf(output, sizeof output, i < 39 ? "v%d" : "y", i + 1);
    test_put_node(&graph, "Where", "choose", inputs, output, NULL);
  }
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {sizeof input - 1, input, NULL, NULL},
                                       .backend = backend};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_fails(heed_onnx_evaluate(onnx, &how, &result, &error), HEED_UNSUPPORTED,
               "computed whole numbers have no kernel");
  heed_onnx_destroy(onnx);
  free(file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_attributes),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_huge),
                                     cmocka_unit_test(test_many_ways)};
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
