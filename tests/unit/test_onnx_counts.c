/* Nodes of ONNX with too few or too many inputs and outputs: for every op a sentence, never a
 * crash. Each op is run with 0 to 11 inputs and 0 to 5 outputs, in double and on kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "onnx/evaluate/evaluate.h"
#include "support/onnx_file.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

static const heed_onnx_op_entry *const tables[] = {
    heed_onnx_elementwise, heed_onnx_layout,     heed_onnx_reduce,     heed_onnx_products,
    heed_onnx_norms,       heed_onnx_attentions, heed_onnx_quantisers, heed_onnx_resizes,
    heed_onnx_einsums,     heed_onnx_tuples,     heed_onnx_channels,   heed_onnx_pools,
    heed_onnx_selections};

static const char inputs[] =
    "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}       "
    "\0\0\0\0\0\0\x80\x3F\0\0\0\0\0\0\x80\x3F\0\0\0\0\0\0\x80\x3F";

/* "x,x" or "y0,y1" of so many names. */
static void list(char *text, uint32_t count, const char *name, bool numbered) {
  *text = '\0';
  for (uint32_t i = 0; i < count; i++) {
    text += sprintf(text, "%s%s", i ? "," : "", name);
    if (numbered) text += sprintf(text, "%u", i);
  }
}

/* What a node of this op ends with; runs in double, or on kernels. */
static heed_status run(const char *op, uint32_t in, uint32_t out, bool kernels) {
  test_message graph = {0};
  char from[160], to[320];
  list(from, in, "x", false);
  list(to, out, "y", true);
  test_put_node(&graph, op, "n", from, to, NULL);
  test_put_value(&graph, 11, "x");
  if (out) test_put_value(&graph, 12, "y0");
  test_message bytes = test_onnx_file(&graph);
  const heed_onnx_desc desc = {
      sizeof desc, {bytes.size, bytes.data, NULL, NULL}, "m.onnx", NULL, NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {sizeof inputs - 1, inputs, NULL, NULL},
                                       .backend = kernels ? backend : NULL};
  heed_onnx *file = NULL;
  heed_onnx_result *result = NULL;
  heed_status status = heed_onnx_open(context, &desc, &file, &error);
  if (status == HEED_OK) status = heed_onnx_evaluate(file, &how, &result, &error);
  if (status == HEED_OK) heed_onnx_result_destroy(result);
  heed_onnx_destroy(file);
  free(bytes.data);
  return status;
}

static void try_op(const char *op) {
  for (uint32_t in = 0; in < 12; in++)
    for (uint32_t out = 0; out < 6; out++)
      for (int kernels = 0; kernels < 2; kernels++) {
        const heed_status status = run(op, in, out, kernels != 0);
        if (status == HEED_OK) continue;
        if ((status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED) ||
            strncmp(error.message, "m.onnx: ", 8) != 0)
          fail_msg("%s of %u inputs and %u outputs: %s", op, in, out, error.message);
      }
}

static void test_every_op(void **state) {
  (void)state;
  uint32_t count = 0;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const heed_onnx_op_entry *op = tables[t]; op->name; op++, count++) try_op(op->name);
  assert_in_range(count, 100, 1000);
}

static void expect_refused(const char *op, uint32_t in, uint32_t out, bool kernels,
                           const char *what) {
  char sentence[48];
  snprintf(sentence, sizeof sentence, "wrong number of %s", what);
  const heed_status status = run(op, in, out, kernels);
  if (kernels && strstr(error.message, "op has no kernel")) return;
  if (status != HEED_INVALID_FILE || !strstr(error.message, sentence))
    fail_msg("%s of %u inputs and %u outputs: %s", op, in, out, error.message);
}

/* By the sentences of ONNX's operators. */
static void test_known(void **state) {
  (void)state;
  static const struct {
    const char *op;
    uint32_t least, most, outputs;
  } known[] = {{"Relu", 1, 1, 1},
               {"Add", 2, 2, 1},
               {"Where", 3, 3, 1},
               {"MatMul", 2, 2, 1},
               {"Softmax", 1, 1, 1},
               {"Erf", 1, 1, 1},
               {"Gather", 2, 2, 1},
               {"Gemm", 2, 3, 1},
               {"LayerNormalization", 2, 3, 3},
               {"Transpose", 1, 1, 1},
               {"Clip", 1, 3, 1},
               {"Attention", 2, 7, 4},
               {"Slice", 1, 5, 1},
               {"Conv", 2, 3, 1},
               {"DynamicQuantizeLinear", 1, 1, 3},
               {"MaxPool", 1, 1, 2},
               {"ReduceSum", 1, 2, 1},
               {"TopK", 1, 2, 2},
               {"Dropout", 1, 3, 2},
               {"Pad", 1, 4, 1},
               {"Resize", 1, 4, 1},
               {"MultiHeadAttention", 1, 10, 4},
               {"PRelu", 2, 2, 1},
               {"RMSNormalization", 2, 2, 3},
               {"Tile", 2, 3, 1},
               {"QuantizeLinear", 2, 3, 1},
               {"MatMulInteger", 2, 4, 1},
               {"ScatterND", 3, 3, 1},
               {"OneHot", 3, 3, 1},
               {"RotaryEmbedding", 3, 4, 1},
               {"SkipSimplifiedLayerNormalization", 3, 4, 4},
               {"SkipLayerNormalization", 3, 5, 4},
               {"MatMulNBits", 3, 6, 1},
               {"BatchNormalization", 5, 5, 5}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (int kernels = 0; kernels < 2; kernels++) {
      expect_refused(known[i].op, known[i].most + 1, 1, kernels, "inputs");
      expect_refused(known[i].op, known[i].least, known[i].outputs + 1, kernels, "outputs");
      expect_refused(known[i].op, known[i].least - 1, 1, kernels, "inputs");
    }
  /* ops of any number of inputs have a limit, which is not the file's fault */
  for (int kernels = 0; kernels < 2; kernels++) {
    if (run("Sum", 64, 1, kernels) != HEED_OK) fail_msg("%s", error.message);
    assert_int_equal(run("Sum", 65, 1, kernels), HEED_UNSUPPORTED);
    assert_non_null(
        strstr(error.message, "node 0 (Sum n): too many inputs (found 65, expected at most 64)"));
  }
  /* and so have the outputs of a Split and of an If */
  for (int kernels = 0; kernels < 2; kernels++) {
    run("Split", 1, 64, kernels); /* of an axis of 2: refused otherwise, or empty */
    assert_null(strstr(error.message, "too many outputs"));
    assert_int_equal(run("Split", 1, 65, kernels), HEED_UNSUPPORTED);
    assert_non_null(strstr(error.message, "too many outputs (found 65, expected at most 64)"));
    assert_int_equal(run("If", 65, 32, kernels), HEED_UNSUPPORTED);
    assert_non_null(strstr(error.message, "too many outputs (found 32, expected at most 31)"));
  }
  assert_int_equal(run("Relu", 1, 1, false), HEED_OK);
  assert_int_equal(run("Relu", 1, 1, true), HEED_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_op), cmocka_unit_test(test_known)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK)
    return 1;
  const int failed = cmocka_run_group_tests_name("onnx counts", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
