/* What ONNX says at the ends of ranges and of lists: in double and on kernels the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_run.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

#define NAN_HERE ((float)NAN)
#define INFINITE ((float)INFINITY)

/* The file of a graph with input x [2, 3] and output y, of this version of ONNX's operators. */
static test_message file_of(test_message *graph, uint64_t version) {
  test_message file = {0}, opset = {0};
  test_put_value(graph, 11, "x");
  test_put_text(graph, 12, "\x0A\x01y"); /* without a shape */
  test_put_number(&file, 1, 8);
  test_put_message(&file, 7, graph);
  test_put_number(&opset, 2, version);
  test_put_message(&file, 8, &opset);
  return file;
}

/* Runs in double, and on kernels where the ops have some; frees the file. */
static void expect_by(int ways, const char *what, test_message file, const float *x, uint32_t count,
                      const float *expected) {
  for (int kernels = 0; kernels < ways; kernels++) {
    const test_onnx_job job = {context, kernels ? backend : NULL, x, "y", count, &error};
    float y[6];
    if (test_onnx_run(&job, &file, y, NULL) != HEED_OK) fail_msg("%s: %s", what, error.message);
    for (uint32_t i = 0; i < count; i++)
      if (!(y[i] == expected[i] ||
            fabs((double)y[i] - (double)expected[i]) <= 1e-6 * fabs((double)expected[i])))
        fail_msg("%s, %s: y[%u] is %.9g, expected %.9g", what, kernels ? "kernels" : "double", i,
                 (double)y[i], (double)expected[i]);
  }
  free(file.data);
}

static void expect(const char *what, test_message file, const float *x, uint32_t count,
                   const float *expected) {
  expect_by(2, what, file, x, count, expected);
}

/* ---- a reduction over no axis still squares, and takes magnitudes and logarithms */

static void test_no_axes(void **state) {
  (void)state;
  static const float x[6] = {1, 2, 0.5f, -3, -2, 4}, positive[6] = {1, 2, 0.5f, 3, 2, 4};
  float squares[6], logarithms[6];
  for (int i = 0; i < 6; i++) {
    squares[i] = x[i] * x[i];
    logarithms[i] = (float)log((double)positive[i]);
  }
  const struct {
    const char *op;
    const float *x, *y;
  } cases[] = {{"ReduceSumSquare", x, squares},
               {"ReduceL1", x, positive},
               {"ReduceL2", x, positive},
               {"ReduceLogSum", positive, logarithms},
               {"ReduceLogSumExp", x, x},
               {"ReduceSum", x, x},
               {"ReduceMean", x, x},
               {"ReduceMax", x, x},
               {"ReduceMin", x, x},
               {"ReduceProd", x, x}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int empty = 0; empty < 2; empty++) { /* axes: left out, and none in a list */
      static const uint32_t none = 0;
      test_message graph = {0}, attributes = {0};
      test_put_integer(&attributes, "noop_with_empty_axes", 1);
      test_put_raw(&graph, "none", 7, 1, &none, "", 0);
      test_put_node(&graph, cases[i].op, "n", empty ? "x,none" : "x", "y", &attributes);
      expect(cases[i].op, file_of(&graph, 18), cases[i].x, 6, cases[i].y);
    }
}

/* ---- sums of half floats are rounded once: 65504 is the largest, and 196,608 / 3 lies within */

static void test_half_sums(void **state) {
  (void)state;
  static const float x[6] = {65504, 65504, 1, -65504, 2048, -1};
  static const uint32_t dims[] = {2, 3};
  static const float second[6] = {76, 65504, 2, -65504, 1, 1},
                     third[6] = {0, -65504, 3, 65504, 1, 0},
                     sums[6] = {INFINITE, 65504, 6, -65504, 2050, 0},
                     means[6] = {21856, 21840, 2, -21840, 683.5f, 0};
  for (int mean = 0; mean < 2; mean++) {
    test_message graph = {0}, half[3] = {{0}, {0}, {0}}, whole = {0};
    test_put_raw(&graph, "b", 1, 2, dims, second, sizeof second);
    test_put_raw(&graph, "c", 1, 2, dims, third, sizeof third);
    for (int i = 0; i < 3; i++) test_put_integer(&half[i], "to", 10);
    test_put_node(&graph, "Cast", "0", "x", "p", &half[0]);
    test_put_node(&graph, "Cast", "1", "b", "q", &half[1]);
    test_put_node(&graph, "Cast", "2", "c", "r", &half[2]);
    test_put_node(&graph, mean ? "Mean" : "Sum", "n", "p,q,r", "m", NULL);
    test_put_integer(&whole, "to", 1);
    test_put_node(&graph, "Cast", "3", "m", "y", &whole);
    /* Mean has no kernel */
    expect_by(mean ? 1 : 2, mean ? "Mean" : "Sum", file_of(&graph, 17), x, 6, mean ? means : sums);
  }
}

/* ---- what is no number becomes the least one; infinities are the ends */

static void test_quantised(void **state) {
  (void)state;
  static const float x[6] = {NAN_HERE, INFINITE, -INFINITE, 1e30f, 2.5f, -3.5f};
  static const struct {
    uint32_t type;
    float y[6];
  } cases[] = {{3, {-130, 125, -130, 125, 2, -4}}, {2, {-2, 253, -2, 253, 2, -2}}};
  static const float scale = 1;
  for (size_t i = 0; i < 2; i++) {
    test_message graph = {0};
    test_put_raw(&graph, "scale", 1, 0, NULL, &scale, sizeof scale);
    test_put_raw(&graph, "zero", cases[i].type, 0, NULL, "\2", 1);
    test_put_node(&graph, "QuantizeLinear", "q", "x,scale,zero", "q", NULL);
    test_put_node(&graph, "DequantizeLinear", "d", "q,scale,zero", "y", NULL);
    expect("QuantizeLinear", file_of(&graph, 13), x, 6, cases[i].y);
  }
}

/* ---- the nearest of opset 10: above the place where an axis shrinks, below it where it grows */

static void test_first_resize(void **state) {
  (void)state;
  static const float x[6] = {1, 2, 3, 4, 5, 6};
  static const struct {
    const char *what;
    float scale[2];
    uint32_t count;
    float y[6];
  } cases[] = {/* of [1, 2, 3, 4]; ONNX's test_resize_downsample_nearest has a scale of 0.6 */
               {"0.6", {1, 0.6f}, 2, {1, 3}},
               {"0.75", {1, 0.75f}, 3, {1, 3, 4}},
               {"1.5", {1, 1.5f}, 6, {1, 1, 2, 3, 3, 4}}};
  static const uint32_t two = 2, one = 1;
  static const int64_t dims[] = {1, 6}, begin = 0, end = 4, axis = 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0};
    test_put_raw(&graph, "scales", 1, 1, &two, cases[i].scale, sizeof cases[i].scale);
    test_put_raw(&graph, "dims", 7, 1, &two, dims, sizeof dims);
    test_put_raw(&graph, "begin", 7, 1, &one, &begin, sizeof begin);
    test_put_raw(&graph, "end", 7, 1, &one, &end, sizeof end);
    test_put_raw(&graph, "axis", 7, 1, &one, &axis, sizeof axis);
    test_put_node(&graph, "Reshape", "r", "x,dims", "line", NULL);
    test_put_node(&graph, "Slice", "s", "line,begin,end,axis", "four", NULL);
    test_put_node(&graph, "Resize", "n", "four,scales", "y", NULL);
    expect(cases[i].what, file_of(&graph, 10), x, cases[i].count, cases[i].y);
  }
}

/* ---- sizes and nearest places by a scale that no float holds */

static void test_scales_of_no_float(void **state) {
  (void)state;
  static const float x[6] = {1, 2, 3, 4, 5, 6};
  static const struct {
    const char *what;
    uint64_t version;
    float scale;
    int64_t used;
    uint32_t count;
    float y[6];
  } cases[] = {{"2 of 6", 13, 2.0f / 6, 6, 2, {1, 4}},
               {"2 of 6", 10, 2.0f / 6, 6, 2, {1, 4}},
               {"5 of 6", 13, 5.0f / 6, 6, 5, {1, 2, 3, 4, 5}},
               {"3 of 5", 18, 3.0f / 5, 5, 3, {1, 2, 4}}};
  static const uint32_t two = 2, one = 1;
  static const int64_t dims[] = {1, 6}, begin = 0, axis = 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, floors = {0};
    const float scales[] = {1, cases[i].scale};
    test_put_raw(&graph, "scales", 1, 1, &two, scales, sizeof scales);
    test_put_raw(&graph, "dims", 7, 1, &two, dims, sizeof dims);
    test_put_raw(&graph, "begin", 7, 1, &one, &begin, sizeof begin);
    test_put_raw(&graph, "end", 7, 1, &one, &cases[i].used, sizeof begin);
    test_put_raw(&graph, "axis", 7, 1, &one, &axis, sizeof axis);
    test_put_node(&graph, "Reshape", "r", "x,dims", "line", NULL);
    test_put_node(&graph, "Slice", "s", "line,begin,end,axis", "part", NULL);
    if (cases[i].version > 10) {
      test_put_word(&floors, "coordinate_transformation_mode", "asymmetric");
      test_put_word(&floors, "nearest_mode", "floor");
    }
    test_put_node(&graph, "Resize", "n", cases[i].version > 10 ? "part,,scales" : "part,scales",
                  "y", &floors);
    expect(cases[i].what, file_of(&graph, cases[i].version), x, cases[i].count, cases[i].y);
  }
}

/* ---- a start before the first element is the first one, also backwards */

static void test_backwards(void **state) {
  (void)state;
  static const float x[6] = {1, 2, 3, 4, 5, 6}, forwards[6] = {1, 2, 3, 4, 5, 6}, first[2] = {1, 4};
  static const uint32_t one = 1;
  static const int64_t start = -5, ends[2] = {INT64_MIN, INT64_MAX}, axis = 1, steps[2] = {-1, 1};
  for (int forward = 0; forward < 2; forward++) {
    test_message graph = {0};
    test_put_raw(&graph, "start", 7, 1, &one, &start, sizeof start);
    test_put_raw(&graph, "end", 7, 1, &one, &ends[forward], sizeof start);
    test_put_raw(&graph, "axis", 7, 1, &one, &axis, sizeof axis);
    test_put_raw(&graph, "step", 7, 1, &one, &steps[forward], sizeof start);
    test_put_node(&graph, "Slice", "s", "x,start,end,axis,step", "y", NULL);
    expect("Slice", file_of(&graph, 13), x, forward ? 6 : 2, forward ? forwards : first);
  }
}

/* ---- a bound of Clip is one number: of any rank, and never one for each element */

static void test_bounds(void **state) {
  (void)state;
  static const float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {3, 3, 3, 4, 5, 6}, bounds[3] = {3, 3, 3};
  static const uint32_t ones[] = {1, 1, 1}, three = 3;
  for (int many = 0; many < 2; many++) {
    test_message graph = {0};
    test_put_raw(&graph, "low", 1, many ? 1 : 3, many ? &three : ones, bounds,
                 many ? sizeof bounds : sizeof *bounds);
    test_put_node(&graph, "Clip", "c", "x,low", "y", NULL);
    test_message file = file_of(&graph, 13);
    for (int kernels = 0; many && kernels < 2; kernels++) {
      const test_onnx_job job = {context, kernels ? backend : NULL, x, "y", 6, &error};
      assert_fails(test_onnx_run(&job, &file, NULL, NULL), HEED_INVALID_FILE,
                   "a bound is not one number");
    }
    if (many)
      free(file.data);
    else
      expect("Clip", file, x, 6, y);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_axes),
                                     cmocka_unit_test(test_half_sums),
                                     cmocka_unit_test(test_quantised),
                                     cmocka_unit_test(test_first_resize),
                                     cmocka_unit_test(test_scales_of_no_float),
                                     cmocka_unit_test(test_backwards),
                                     cmocka_unit_test(test_bounds)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK)
    return 1;
  const int failed = cmocka_run_group_tests_name("onnx rules", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
