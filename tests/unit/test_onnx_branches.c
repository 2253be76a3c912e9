/* If, in double and on kernels: also nested, with a computed condition, and with branches that have
 * the same names for values of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_run.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

static const uint32_t one = 1, two = 2;

typedef enum if_case {
  FIXED,
  COMPUTED,
  NESTED,
  SAME_NAMES,
  NESTED_SAME_NAMES,
  TAKEN_NAMES, /* what the second branch's names would become are names of the graph */
  OUTER_NAMES  /* the second branch reads and gives what is not its own */
} if_case;

/* Twice x first, minus x second, by names of their own. */
static void put_branch(test_message *branch, bool first) {
  static const float factor = 2;
  if (first) {
    test_put_raw(branch, "two", 1, 1, &one, &factor, sizeof factor);
    test_put_node(branch, "Mul", "m", "x,two", "d", NULL);
    test_put_value(branch, 12, "d");
  } else {
    test_put_node(branch, "Neg", "g", "x", "b", NULL);
    test_put_value(branch, 12, "b");
  }
}

/* 4 x first, 6 x second, by the same names. */
static void put_same_names(test_message *branch, bool first) {
  const float factor = first ? 2 : 7;
  test_put_raw(branch, "factor", 1, 1, &one, &factor, sizeof factor);
  test_put_node(branch, "Mul", "m", "x,factor", "h", NULL);
  test_put_node(branch, first ? "Add" : "Sub", "s", first ? "h,h" : "h,x", "b", NULL);
  test_put_value(branch, 12, "b");
}

static void put_if(test_message *graph, const char *condition, const char *output, if_case kind) {
  test_message branches[2] = {{0}, {0}}, of = {0};
  for (int b = 0; b < 2; b++) {
    if (b == 0 && (kind == NESTED || kind == NESTED_SAME_NAMES)) {
      put_if(&branches[b], "yes", "a", kind == NESTED ? FIXED : SAME_NAMES);
      test_put_value(&branches[b], 12, "a");
    } else if (b == 1 && kind == NESTED) {
      test_put_node(&branches[b], "Neg", "g", "x", "c", NULL);
      test_put_value(&branches[b], 12, "c");
    } else if (b == 1 && kind == OUTER_NAMES) {
      test_put_node(&branches[b], "Neg", "g", "factor", "h", NULL);
      test_put_value(&branches[b], 12, "outer");
    } else if (kind == FIXED || kind == COMPUTED || kind == NESTED) {
      put_branch(&branches[b], b == 0);
    } else {
      put_same_names(&branches[b], b == 0);
    }
    test_put_graph(&of, b == 0 ? "then_branch" : "else_branch", &branches[b]);
  }
  test_put_node(graph, "If", "branch", condition, output, &of);
}

/* The condition is that x has `size` elements, or that its sum is below 1. */
static test_message if_file(int64_t size, if_case kind) {
  static const float limit = 1, numbers[2] = {5, 11};
  static const int64_t all[2] = {0, 1};
  const unsigned char truth = 1;
  test_message graph = {0}, keep = {0};
  test_put_raw(&graph, "size", 7, 1, &one, &size, sizeof size);
  test_put_raw(&graph, "yes", 9, 1, &one, &truth, 1);
  test_put_raw(&graph, "all", 7, 1, &two, all, sizeof all);
  test_put_raw(&graph, "limit", 1, 1, &one, &limit, sizeof limit);
  if (kind == TAKEN_NAMES) {
    test_put_raw(&graph, "factor.branch2", 1, 1, &one, &numbers[0], sizeof *numbers);
    test_put_node(&graph, "Mul", "t", "x,factor.branch2", "h.branch2", NULL);
  }
  if (kind == OUTER_NAMES) {
    test_put_raw(&graph, "factor", 1, 1, &one, &numbers[1], sizeof *numbers);
    test_put_node(&graph, "Mul", "t", "x,factor", "outer", NULL);
  }
  if (kind == COMPUTED) {
    test_put_integer(&keep, "keepdims", 0);
    test_put_node(&graph, "ReduceSum", "r", "x,all", "sum", &keep);
    test_put_node(&graph, "Less", "l", "sum,limit", "condition", NULL);
  } else {
    test_put_node(&graph, "Size", "s", "x", "count", NULL);
    test_put_node(&graph, "Equal", "e", "count,size", "condition", NULL);
  }
  put_if(&graph, "condition", "chosen", kind);
  test_put_node(&graph, kind == TAKEN_NAMES ? "Add" : "Abs", "o",
                kind == TAKEN_NAMES ? "chosen,h.branch2" : "chosen", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_text(&graph, 12, "\x0A\x01y"); /* without a shape */
  return test_onnx_file(&graph);
}

static void test_branches(void **state) {
  (void)state;
  static const float x[6] = {1, 2, 3, -3, -2, -1};
  static const struct {
    if_case kind;
    int64_t size;
    float factor;
  } cases[] = {{FIXED, 6, 2},        {FIXED, 5, 1},
               {NESTED, 6, 2},       {NESTED, 5, 1},
               {COMPUTED, 0, 2},     {SAME_NAMES, 6, 4},
               {SAME_NAMES, 5, 6},   {NESTED_SAME_NAMES, 6, 4},
               {TAKEN_NAMES, 6, 9},  {NESTED_SAME_NAMES, 5, 6},
               {TAKEN_NAMES, 5, 11}, {OUTER_NAMES, 6, 4},
               {OUTER_NAMES, 5, 11}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message file = if_file(cases[i].size, cases[i].kind);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[6];
      const test_onnx_job job = {context, kernels ? backend : NULL, x, "y", 6, &error};
      const heed_status status = test_onnx_run(&job, &file, y, NULL);
      if (kernels && cases[i].kind == COMPUTED) {
        assert_int_equal(status, HEED_UNSUPPORTED);
        assert_string_equal(error.message,
                            "m.onnx: node 4 (If branch): a condition that is computed has no "
                            "kernel (found If of opset 17)");
        continue;
      }
      assert_ok(status);
      for (int k = 0; k < 6; k++) {
        const float expected =
            cases[i].factor * (cases[i].kind == TAKEN_NAMES ? x[k] : fabsf(x[k]));
        if (!(fabsf(y[k] - expected) < 1e-5f))
          fail_msg("case %zu, element %d: found %g, expected %g", i, k, (double)y[k],
                   (double)expected);
      }
    }
    free(file.data);
  }
}

/* An attention in a branch: its map where the branch is taken, and none where it is not. */
static void test_attention(void **state) {
  (void)state;
  static const float x[6] = {1, -2, 3, -4, 5, -6};
  static const int64_t turned[2] = {1, 0};
  for (unsigned char truth = 0; truth < 2; truth++) {
    test_message graph = {0}, branches[2] = {{0}, {0}}, of = {0}, order = {0};
    test_put_raw(&graph, "yes", 9, 1, &one, &truth, 1);
    test_put_integers(&order, "perm", 2, turned);
    test_put_node(&branches[0], "Transpose", "t", "x", "k", &order);
    test_put_node(&branches[0], "MatMul", "q", "x,k", "s", NULL);
    test_put_node(&branches[0], "Softmax", "w", "s", "p", NULL);
    test_put_node(&branches[0], "MatMul", "v", "p,x", "a", NULL);
    test_put_value(&branches[0], 12, "a");
    test_put_node(&branches[1], "Neg", "n", "x", "a", NULL);
    test_put_value(&branches[1], 12, "a");
    for (int b = 0; b < 2; b++)
      test_put_graph(&of, b == 0 ? "then_branch" : "else_branch", &branches[b]);
    test_put_node(&graph, "If", "branch", "yes", "y", &of);
    test_put_value(&graph, 11, "x");
    test_put_text(&graph, 12, "\x0A\x01y"); /* without a shape */
    test_message file = test_onnx_file(&graph);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[6], map[4];
      test_onnx_job job = {context, kernels ? backend : NULL, x, "y", 6, &error, true};
      assert_ok(test_onnx_run(&job, &file, y, NULL));
      if (!truth) {
        for (int i = 0; i < 6; i++) assert_true(y[i] == -x[i]);
        continue;
      }
      job.output = "attention.0", job.count = 4;
      assert_ok(test_onnx_run(&job, &file, map, NULL));
      assert_true(map[0] > 0.999f && map[3] > 0.999f); /* 14 beside -32, 77 beside -32 */
    }
    free(file.data);
  }
}

/* A branch that makes a value twice: no name can tell the two apart. */
static void test_twice(void **state) {
  (void)state;
  test_message graph = {0}, branches[2] = {{0}, {0}}, of = {0};
  const unsigned char truth = 1;
  test_put_raw(&graph, "yes", 9, 1, &one, &truth, 1);
  for (int b = 0; b < 2; b++) {
    put_same_names(&branches[b], b == 0);
    if (b) test_put_node(&branches[b], "Neg", "again", "x", "h", NULL);
    test_put_graph(&of, b == 0 ? "then_branch" : "else_branch", &branches[b]);
  }
  test_put_node(&graph, "If", "branch", "yes", "y", &of);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
  heed_onnx *onnx;
  assert_fails(heed_onnx_open(context, &desc, &onnx, &error), HEED_INVALID_FILE,
               "value h.branch2 is made twice");
  free(file.data);
}

/* A Split of six outputs, and an If of five: the negative or the absolute value of each. */
static void test_many_outputs(void **state) {
  (void)state;
  static const float x[6] = {1, -2, 3, -4, 5, -6};
  static const int64_t six = 6;
  for (unsigned char truth = 0; truth < 2; truth++) {
    test_message graph = {0}, branches[2] = {{0}, {0}}, of = {0}, axis = {0};
    test_put_raw(&graph, "yes", 9, 1, &one, &truth, 1);
    test_put_raw(&graph, "flat", 7, 1, &one, &six, sizeof six);
    test_put_node(&graph, "Reshape", "r", "x,flat", "row", NULL);
    test_put_node(&graph, "Split", "s", "row", "x0,x1,x2,x3,x4,x5", NULL);
    for (int b = 0; b < 2; b++) {
      for (int i = 0; i < 5; i++) {
        const char in[] = {'x', (char)('0' + i), '\0'}, out[] = {'p', (char)('0' + i), '\0'};
        test_put_node(&branches[b], b == 0 ? "Neg" : "Abs", out, in, out, NULL);
        test_put_value(&branches[b], 12, out);
      }
      test_put_graph(&of, b == 0 ? "then_branch" : "else_branch", &branches[b]);
    }
    test_put_node(&graph, "If", "branch", "yes", "y0,y1,y2,y3,y4", &of);
    test_put_integer(&axis, "axis", 0);
    test_put_node(&graph, "Concat", "c", "y0,y1,y2,y3,y4,x5", "y", &axis);
    test_put_value(&graph, 11, "x");
    test_put_text(&graph, 12, "\x0A\x01y"); /* without a shape */
    test_message file = test_onnx_file(&graph);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[6];
      const test_onnx_job job = {context, kernels ? backend : NULL, x, "y", 6, &error};
      assert_ok(test_onnx_run(&job, &file, y, NULL));
      for (int i = 0; i < 6; i++)
        assert_true(y[i] == (i == 5 ? x[i] : truth ? -x[i] : fabsf(x[i])));
    }
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_branches),
                                     cmocka_unit_test(test_attention), cmocka_unit_test(test_twice),
                                     cmocka_unit_test(test_many_outputs)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK)
    return 1;
  const int failed = cmocka_run_group_tests_name("onnx branches", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
