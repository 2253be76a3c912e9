/* Pools, convolutions of each channel, TopK, OneHot and ScatterElements, in double and on kernels:
 * the examples of ONNX's page of each operator, and others whose sums are written out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_run.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

/* ---- files */

/* AttributeProto.ints as a field of a node. */
static void put_integers(test_message *attributes, const char *name, const char *numbers) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  for (const char *at = numbers; *at;) {
    char *end;
    test_put_number(&attribute, 8, (uint64_t)strtol(at, &end, 10));
    at = end;
  }
  test_put_number(&attribute, 20, 7);
  test_put_message(attributes, 5, &attribute);
}

/* "kernel_shape=3 3; ceil_mode:1; auto_pad'SAME_UPPER" */
static void put_attributes(test_message *to, const char *text) {
  char copy[200];
  strcpy(copy, text);
  for (char *item = strtok(copy, ";"); item; item = strtok(NULL, ";")) {
    item += strspn(item, " ");
    char *sign = strpbrk(item, "=:'"), kind = *sign;
    *sign = 0;
    if (kind == '=') put_integers(to, item, sign + 1);
    if (kind == ':') test_put_integer(to, item, strtol(sign + 1, NULL, 10));
    if (kind == '\'') test_put_word(to, item, sign + 1);
  }
}

/* x [2, 3] is what test_put_value says; the image is made of it and of a constant: x's sum is 0. */
static void put_image(test_message *graph, uint32_t rank, const uint32_t *dims) {
  static const int64_t all[2] = {0, 1};
  static const uint32_t two = 2;
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  float *numbers = malloc(count * sizeof *numbers);
  assert_non_null(numbers);
  for (uint32_t i = 0; i < count; i++) numbers[i] = (float)(i + 1);
  test_put_raw(graph, "numbers", 1, rank, dims, numbers, count * sizeof *numbers);
  test_put_raw(graph, "all", 7, 1, &two, all, sizeof all);
  test_message reduce = {0};
  test_put_integer(&reduce, "keepdims", 0);
  test_put_node(graph, "ReduceSum", "s", "x,all", "zero", &reduce);
  test_put_node(graph, "Add", "a", "numbers,zero", "image", NULL);
  free(numbers);
}

static heed_status run(test_message *file, bool kernels, const char *output, uint32_t count,
                       float *y, int64_t *whole) {
  static const float x[6] = {1, 2, 3, -3, -2, -1};
  const test_onnx_job job = {context, kernels ? backend : NULL, x, output, count, &error};
  return test_onnx_run(&job, file, y, whole);
}

static test_message pool(const char *op, uint32_t side, bool line, const char *attributes) {
  const uint32_t dims[4] = {1, 1, side, side};
  test_message graph = {0}, of = {0};
  put_image(&graph, line ? 3 : 4, dims);
  put_attributes(&of, attributes);
  test_put_node(&graph, op, "n", "image", "y", &of);
  test_put_value(&graph, 11, "x");
  test_put_text(&graph, 12, "\x0A\x01y"); /* without a shape */
  return test_onnx_file(&graph);
}

/* ---- pools */

#define N "kernel_shape="
static const struct {
  const char *op, *attributes;
  uint32_t side, count; /* side 0: a line of 6 */
  float y[25];
} pools[] = {
    {"MaxPool", N "5 5; pads=2 2 2 2", 5, 25, {13, 14, 15, 15, 15, 18, 19, 20, 20, 20, 23, 24, 25,
                                               25, 25, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25}},
    {"MaxPool", N "2 2; strides=2 2", 5, 4, {7, 9, 17, 19}},
    {"MaxPool", N "3 3; strides=2 2; ceil_mode:1", 4, 4, {11, 12, 15, 16}},
    {"MaxPool", N "2 2; dilations=2 2", 4, 4, {11, 12, 15, 16}},
    {"MaxPool",
     N "3 3; strides=2 2; auto_pad'SAME_UPPER",
     5,
     9,
     {7, 9, 10, 17, 19, 20, 22, 24, 25}},
    {"MaxPool", N "2; strides=2; pads=1 0", 0, 3, {1, 3, 5}},
    {"MaxPool", N "4 4", 4, 1, {16}},
    {"AveragePool", N "5 5; pads=2 2 2 2", 5, 25, {7,     7.5f,  8,     8.5f,  9,     9.5f,  10,
                                                   10.5f, 11,    11.5f, 12,    12.5f, 13,    13.5f,
                                                   14,    14.5f, 15,    15.5f, 16,    16.5f, 17,
                                                   17.5f, 18,    18.5f, 19}},
    {"AveragePool",
     N "5 5; pads=2 2 2 2; count_include_pad:1",
     5,
     25,
     {2.52f, 3.6f, 4.8f,  4.08f, 3.24f, 4.56f,  6.4f,  8.4f,  7.04f, 5.52f, 7.2f,  10,   13,
      10.8f, 8.4f, 6.96f, 9.6f,  12.4f, 10.24f, 7.92f, 6.12f, 8.4f,  10.8f, 8.88f, 6.84f}},
    {"AveragePool", N "2 2; strides=2 2", 5, 4, {4, 6, 14, 16}},
    {"AveragePool", N "3 3; strides=2 2; ceil_mode:1", 4, 4, {6, 7.5f, 12, 13.5f}},
    {"AveragePool",
     N "3 3; strides=2 2; auto_pad'SAME_UPPER",
     5,
     9,
     {4, 5.5f, 7, 11.5f, 13, 14.5f, 19, 20.5f, 22}},
    {"AveragePool", N "2 2; dilations=2 2; ceil_mode:1", 4, 4, {6, 7, 10, 11}},
    /* a third window would begin in the padding behind the image */
    {"AveragePool",
     N "3 3; strides=3 3; pads=1 1 1 1; ceil_mode:1; count_include_pad:1",
     2,
     1,
     {10.0f / 9}},
    /* the last windows reach behind the padding, where nothing is counted */
    {"AveragePool",
     N "3 3; strides=2 2; pads=1 1 1 1; ceil_mode:1; count_include_pad:1",
     4,
     9,
     {14.0f / 9, 30.0f / 9, 2, 57.0f / 9, 11, 6, 4.5f, 7.5f, 4}},
    {"AveragePool", N "4 4", 4, 1, {8.5f}},
};

static void test_pools(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
    const bool line = pools[i].side == 0;
    const uint32_t dims = line ? 6 : pools[i].side;
    test_message file = pool(pools[i].op, dims, line, pools[i].attributes);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[25];
      if (run(&file, kernels, "y", pools[i].count, y, NULL) != HEED_OK)
        fail_msg("%s %s: %s", pools[i].op, pools[i].attributes, error.message);
      for (uint32_t k = 0; k < pools[i].count; k++)
        if (!(fabs((double)y[k] - (double)pools[i].y[k]) <= 2e-6 * (double)pools[i].y[k]))
          fail_msg("%s %s, %s: y[%u] is %.9g, expected %.9g", pools[i].op, pools[i].attributes,
                   kernels ? "kernels" : "double", k, (double)y[k], (double)pools[i].y[k]);
    }
    free(file.data);
  }
}

/* The second output: places in the image, counted by rows or by columns. No kernel has it. */
static void test_indices(void **state) {
  (void)state;
  static const struct {
    const char *attributes;
    int64_t y[4];
  } cases[] = {{N "2 2; strides=2 2", {6, 8, 16, 18}},
               {N "2 2; strides=2 2; storage_order:1", {6, 16, 8, 18}}};
  static const uint32_t dims[4] = {1, 1, 5, 5};
  for (size_t i = 0; i < 2; i++) {
    test_message graph = {0}, of = {0};
    put_image(&graph, 4, dims);
    put_attributes(&of, cases[i].attributes);
    test_put_node(&graph, "MaxPool", "n", "image", "most,y", &of);
    test_put_value(&graph, 11, "x");
    test_put_text(&graph, 12, "\x0A\x01y");
    test_message file = test_onnx_file(&graph);
    int64_t y[4];
    assert_ok(run(&file, false, "y", 4, NULL, y));
    for (int k = 0; k < 4; k++) assert_int_equal(y[k], cases[i].y[k]);
    assert_fails(run(&file, true, "y", 4, NULL, y), HEED_UNSUPPORTED,
                 "indices of a pool have no kernel");
    free(file.data);
  }
}

/* ---- a convolution of two channels by themselves, two results each: o + 1 times the sum of a
 * window, and a bias; the sums are 25 times the means with count_include_pad. */

static void test_channels(void **state) {
  (void)state;
  static const uint32_t dims[4] = {1, 1, 5, 5}, kernel[4] = {4, 1, 5, 5}, four = 4;
  static const float bias[4] = {0, 0.5f, 1, 1.5f};
  float weights[100];
  test_message graph = {0}, of = {0}, join = {0};
  for (int i = 0; i < 100; i++) weights[i] = (float)(i / 25 + 1);
  put_image(&graph, 4, dims);
  test_put_integer(&join, "axis", 1);
  test_put_node(&graph, "Concat", "c", "image,image", "two", &join);
  test_put_raw(&graph, "weights", 1, 4, kernel, weights, sizeof weights);
  test_put_raw(&graph, "bias", 1, 1, &four, bias, sizeof bias);
  put_attributes(&of, "pads=2 2 2 2; group:2");
  test_put_node(&graph, "Conv", "n", "two,weights,bias", "y", &of);
  test_put_value(&graph, 11, "x");
  test_put_text(&graph, 12, "\x0A\x01y");
  test_message file = test_onnx_file(&graph);
  for (int kernels = 0; kernels < 2; kernels++) {
    float y[100];
    assert_ok(run(&file, kernels, "y", 100, y, NULL));
    for (int i = 0; i < 100; i++) {
      const double expected =
          (double)((float)(i / 25 + 1) * pools[8].y[i % 25] * 25.0f + bias[i / 25]);
      assert_true(fabs((double)y[i] - expected) <= 1e-5 * expected);
    }
  }
  free(file.data);
}

/* ---- entries of known values: folded, so that no kernel is needed */

/* A file of an older or newer operator set. */
static test_message file_of(test_message *graph, uint64_t opset) {
  test_message file = {0}, version = {0};
  test_put_number(&file, 1, 8);
  test_put_message(&file, 7, graph);
  test_put_number(&version, 2, opset);
  test_put_message(&file, 8, &version);
  return file;
}

static void put_wholes(test_message *graph, const char *name, uint32_t rank, const uint32_t *dims,
                       const int64_t *numbers) {
  size_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  test_put_raw(graph, name, 7, rank, dims, numbers, count * sizeof *numbers);
}

/* Runs the node on both ways, with x as an input that nothing reads. */
static heed_status run_known(test_message *graph, uint64_t opset, const char *op,
                             const char *inputs, const char *outputs, const char *attributes,
                             bool kernels, uint32_t count, float *y, int64_t *whole) {
  test_message of = {0};
  put_attributes(&of, attributes);
  test_put_node(graph, op, "n", inputs, outputs, &of);
  test_put_value(graph, 11, "x");
  test_put_text(graph, 12, "\x0A\x01y");
  test_message file = file_of(graph, opset);
  const heed_status status = run(&file, kernels, "y", count, y, whole);
  free(file.data);
  return status;
}

/* Beyond 2^53, where doubles leave numbers out; wrapped, not rounded. */
static void test_large_whole_numbers(void **state) {
  (void)state;
  static const int64_t numbers[] = {(INT64_C(1) << 53) + 1, 1, 1, (INT64_C(1) << 53) + 1};
  static const uint32_t square[] = {2, 2};
  static const struct {
    const char *op, *inputs, *attributes;
    uint32_t count;
    int64_t y[4];
  } cases[] = {{"ReduceSum", "m", "keepdims:0", 1, {(INT64_C(1) << 54) + 4}},
               {"ReduceMax", "m", "keepdims:0", 1, {(INT64_C(1) << 53) + 1}},
               {"MatMul",
                "m,m",
                "",
                4,
                {(INT64_C(1) << 54) + 2, (INT64_C(1) << 54) + 2, (INT64_C(1) << 54) + 2,
                 (INT64_C(1) << 54) + 2}},
               {"Clip", "m", "", 4, {(INT64_C(1) << 53) + 1, 1, 1, (INT64_C(1) << 53) + 1}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int kernels = 0; kernels < 2; kernels++) {
      test_message graph = {0};
      int64_t y[4];
      test_put_raw(&graph, "m", 7, 2, square, numbers, sizeof numbers);
      assert_ok(run_known(&graph, 18, cases[i].op, cases[i].inputs, "y", cases[i].attributes,
                          kernels, cases[i].count, NULL, y));
      for (uint32_t k = 0; k < cases[i].count; k++) assert_int_equal(y[k], cases[i].y[k]);
    }
}

static void assert_floats(const float *found, uint32_t count, const float *expected) {
  for (uint32_t i = 0; i < count; i++)
    if (!(fabs((double)found[i] - (double)expected[i]) <= 1e-6))
      fail_msg("y[%u] is %.9g, expected %.9g", i, (double)found[i], (double)expected[i]);
}

static void test_top_k(void **state) {
  (void)state;
  static const struct {
    const char *attributes;
    uint64_t opset;
    uint32_t rows, columns, count;
    int64_t k, y[9];
    float x[12], values[9];
  } cases[] = {
      {"axis:1",
       17,
       3,
       4,
       9,
       3,
       {3, 2, 1, 3, 2, 1, 3, 2, 1},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
       {3, 2, 1, 7, 6, 5, 11, 10, 9}},
      {"axis:-1; largest:0",
       11,
       3,
       4,
       9,
       3,
       {3, 2, 1, 0, 1, 2, 3, 2, 1},
       {3, 2, 1, 0, 4, 5, 6, 7, 11, 10, 9, 8},
       {0, 1, 2, 4, 5, 6, 8, 9, 10}},
      {"axis:0", 17, 4, 1, 2, 2, {2, 0}, {1, 1, 2, 1}, {2, 1}}, /* of equal ones the first */
      {"axis:1; k:2", 9, 1, 3, 2, 0, {1, 2}, {1, 5, 3}, {5, 3}},
  };
  static const uint32_t one = 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int way = 0; way < 4; way++) {
      const uint32_t dims[2] = {cases[i].rows, cases[i].columns};
      const bool index = way & 1, kernels = way & 2;
      test_message graph = {0};
      int64_t whole[9];
      float y[9];
      test_put_raw(&graph, "image", 1, 2, dims, cases[i].x, dims[0] * dims[1] * sizeof(float));
      put_wholes(&graph, "k", 1, &one, &cases[i].k);
      assert_ok(run_known(&graph, cases[i].opset, "TopK", cases[i].opset < 10 ? "image" : "image,k",
                          index ? "values,y" : "y,index", cases[i].attributes, kernels,
                          cases[i].count, y, index ? whole : NULL));
      for (uint32_t k = 0; k < cases[i].count && index; k++)
        assert_int_equal(whole[k], cases[i].y[k]);
      if (!index) assert_floats(y, cases[i].count, cases[i].values);
    }
}

/* Indices 0, -7 and -8 of 10: in opset 9 those below 0 are none. */
static void test_one_hot(void **state) {
  (void)state;
  static const uint32_t three = 3, one = 1, two = 2;
  static const int64_t indices[3] = {0, -7, -8}, depth = 10;
  static const float values[2] = {1, 3};
  for (int way = 0; way < 8; way++) {
    const bool first = way & 1, old = way & 2, kernels = way & 4;
    test_message graph = {0};
    float y[30], expected[30];
    put_wholes(&graph, "indices", 1, &three, indices);
    put_wholes(&graph, "depth", 1, &one, &depth);
    test_put_raw(&graph, "values", 1, 1, &two, values, sizeof values);
    assert_ok(run_known(&graph, old ? 9 : 11, "OneHot", "indices,depth,values", "y",
                        first ? "axis:0" : "axis:1", kernels, 30, y, NULL));
    static const uint32_t on[3] = {0, 3, 2};
    for (uint32_t i = 0; i < 30; i++) {
      const uint32_t item = first ? i % 3 : i / 10, entry = first ? i / 3 : i % 10;
      expected[i] = entry == on[item] && (item == 0 || !old) ? 3 : 1;
    }
    assert_floats(y, 30, expected);
  }
}

static void test_scatter(void **state) {
  (void)state;
  static const struct {
    const char *op, *attributes;
    uint32_t rows, columns, index_rows, index_columns;
    float x[9];
    int64_t indices[6];
    float updates[6], y[9];
  } cases[] = {
      {"ScatterElements",
       "axis:0",
       3,
       3,
       2,
       3,
       {0},
       {1, 0, 2, 0, 2, 1},
       {1.0f, 1.1f, 1.2f, 2.0f, 2.1f, 2.2f},
       {2.0f, 1.1f, 0, 1, 0, 2.2f, 0, 2.1f, 1.2f}},
      {"Scatter",
       "axis:1",
       1,
       5,
       1,
       2,
       {1, 2, 3, 4, 5},
       {1, 3},
       {1.1f, 2.1f},
       {1, 1.1f, 3, 2.1f, 5}},
      {"ScatterElements",
       "axis:1",
       1,
       5,
       1,
       2,
       {1, 2, 3, 4, 5},
       {1, -3},
       {1.1f, 2.1f},
       {1, 1.1f, 2.1f, 4, 5}},
      {"ScatterElements",
       "axis:1; reduction'add",
       1,
       5,
       1,
       2,
       {1, 2, 3, 4, 5},
       {1, 1},
       {1.1f, 2.1f},
       {1, 5.2f, 3, 4, 5}},
      {"ScatterElements",
       "axis:1; reduction'max",
       1,
       5,
       1,
       2,
       {1, 2, 3, 4, 5},
       {1, 1},
       {1.1f, 2.1f},
       {1, 2.1f, 3, 4, 5}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int kernels = 0; kernels < 2; kernels++) {
      const uint32_t dims[2] = {cases[i].rows, cases[i].columns},
                     inner[2] = {cases[i].index_rows, cases[i].index_columns};
      test_message graph = {0};
      float y[9];
      test_put_raw(&graph, "image", 1, 2, dims, cases[i].x, dims[0] * dims[1] * sizeof(float));
      put_wholes(&graph, "indices", 2, inner, cases[i].indices);
      test_put_raw(&graph, "updates", 1, 2, inner, cases[i].updates,
                   inner[0] * inner[1] * sizeof(float));
      assert_ok(run_known(&graph, 18, cases[i].op, "image,indices,updates", "y",
                          cases[i].attributes, kernels, dims[0] * dims[1], y, NULL));
      assert_floats(y, dims[0] * dims[1], cases[i].y);
    }
}

/* ---- what is refused, in double and on kernels */

static void test_refused_entries(void **state) {
  (void)state;
  static const struct {
    const char *op, *inputs, *outputs, *attributes, *sentence;
  } cases[] = {
      {"TopK", "two,four", "y,index", "axis:0", "k out of range (found 4, of 2)"},
      {"TopK", "two,minus", "y,index", "axis:0", "k out of range (found -1, of 2)"},
      {"TopK", "two,four", "y,index", "axis:1", "axis out of range"},
      {"OneHot", "four,minus,two", "y", "axis:0", "its depth and values do not fit (found -1"},
      {"OneHot", "four,four,four", "y", "axis:0", "its depth and values do not fit (found 4 and 1"},
      {"ScatterElements", "two,four,two", "y", "axis:0", "its indices do not fit its input"},
      {"ScatterElements", "two,four,one", "y", "axis:0", "index out of range (found 4 of 2)"},
      {"ScatterElements", "two,minus,one", "y", "reduction'mean", "attribute reduction is unknown"},
  };
  static const uint32_t one = 1, two = 2;
  static const int64_t four = 4, minus = -1;
  static const float numbers[2] = {5, 6};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int kernels = 0; kernels < 2; kernels++) {
      test_message graph = {0};
      float y[8];
      test_put_raw(&graph, "two", 1, 1, &two, numbers, sizeof numbers);
      test_put_raw(&graph, "one", 1, 1, &one, numbers, sizeof *numbers);
      put_wholes(&graph, "four", 1, &one, &four);
      put_wholes(&graph, "minus", 1, &one, &minus);
      assert_fails(run_known(&graph, 17, cases[i].op, cases[i].inputs, cases[i].outputs,
                             cases[i].attributes, kernels, 8, y, NULL),
                   HEED_INVALID_FILE, cases[i].sentence);
    }
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *op, *attributes, *sentence;
  } cases[] = {
      {"MaxPool", "ceil_mode:1", "kernel_shape does not fit (found 0 axes, of 4 of the input)"},
      {"MaxPool", N "2", "kernel_shape does not fit (found 1 axes, of 4 of the input)"},
      {"AveragePool", N "2 0", "kernel_shape out of range (found 0)"},
      {"AveragePool", N "2 6", "its kernel is larger than its image"},
      {"AveragePool", N "2 2; pads=0 2 0 0",
       "its padding is not smaller than its kernel (found 2 and 0, of 2)"},
      {"MaxPool", N "2 2; strides=0 1", "invalid strides, dilations or pads"},
      {"MaxPool", N "2 2; strides=1", "strides, dilations or pads of other axes"},
      {"MaxPool", N "2 2; auto_pad'SAME", "attribute auto_pad is unknown"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message file = pool(cases[i].op, 5, false, cases[i].attributes);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[25];
      assert_fails(run(&file, kernels, "y", 25, y, NULL), HEED_INVALID_FILE, cases[i].sentence);
    }
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pools),          cmocka_unit_test(test_large_whole_numbers),
      cmocka_unit_test(test_indices),        cmocka_unit_test(test_channels),
      cmocka_unit_test(test_top_k),          cmocka_unit_test(test_one_hot),
      cmocka_unit_test(test_scatter),        cmocka_unit_test(test_refused),
      cmocka_unit_test(test_refused_entries)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK)
    return 1;
  const int failed = cmocka_run_group_tests_name("onnx ops", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
