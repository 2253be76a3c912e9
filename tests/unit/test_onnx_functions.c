/* Functions of a file, in double and on kernels: attributes that refer to those of the call, calls
 * inside functions, names that stand in several, branches; and files that are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_functions.h"
#include "support/onnx_run.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

static const float input[6] = {1, 2, 0.5f, -3, -0.25f, -1};

static test_message file_of(test_message *graph) {
  test_put_value(graph, 11, "x");
  test_put_value(graph, 12, "y");
  test_message file = test_onnx_file(graph);
  test_put_functions(&file);
  return file;
}

static double elu(double x, double alpha) { return x < 0 ? alpha * expm1(x) : x; }
static double of_default(double x) { return elu(x, 2) * x; }
static double of_half(double x) { return elu(x, 0.5) * x; }
static double of_twice(double x) { return elu(elu(x, 0.5) * x, 2) * x; }
static double of_same(double x) { return x; }
static double of_choose(double x) { return 2 * x; }
static double of_names(double x) { return of_default(x) - x; }

static void check(test_message *graph, double (*expected)(double)) {
  test_message file = file_of(graph);
  for (int kernels = 0; kernels < 2; kernels++) {
    float y[6];
    const test_onnx_job job = {context, kernels ? backend : NULL, input, "y", 6, &error};
    assert_ok(test_onnx_run(&job, &file, y, NULL));
    for (int i = 0; i < 6; i++)
      if (!(fabs((double)y[i] - expected((double)input[i])) < 2e-6))
        fail_msg("element %d: found %g, expected %g", i, (double)y[i], expected((double)input[i]));
  }
  free(file.data);
}

static void test_calls(void **state) {
  test_message graph = {0}, half = {0}, beta = {0}, copy = {0}, names = {0};
  (void)state;
  test_put_call(&graph, 1, "gate", "x,x", "y", NULL);
  check(&graph, of_default);
  test_put_float(&half, "alpha", 0.5f);
  test_put_call(&graph, 1, "gate", "x,x", "y", &half);
  check(&graph, of_half);
  test_put_float(&beta, "beta", 0.5f);
  test_put_call(&graph, 1, "twice", "x", "y", &beta);
  check(&graph, of_twice);
  test_put_call(&copy, 1, "gate", "x,x", "other,y", NULL); /* an output that is an input */
  check(&copy, of_same);
  test_put_node(&names, "Neg", "n", "x", "e",
                NULL); /* gate has a value e too, and is called twice */
  test_put_call(&names, 1, "gate", "x,x", "out", NULL);
  test_put_call(&names, 1, "gate", "out,x", "unused", NULL);
  test_put_node(&names, "Add", "a", "out,e", "y", NULL);
  check(&names, of_names);
}

static void test_branches(void **state) {
  (void)state;
  for (unsigned char truth = 0; truth < 2; truth++) {
    test_message graph = {0};
    static const uint32_t one = 1;
    test_put_raw(&graph, "truth", 9, 1, &one, &truth, 1);
    test_put_call(&graph, 1, "choose", "truth,x", "y", NULL);
    check(&graph, of_choose);
  }
}

/* ------------------------------------------------------------------------------------ refusals */

static void refuse(test_message *graph, test_message *function, heed_status status,
                   const char *sentence) {
  test_message file = file_of(graph);
  heed_onnx *onnx = NULL;
  if (function) test_put_message(&file, 25, function);
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "f", NULL, NULL};
  assert_fails(heed_onnx_open(context, &desc, &onnx, &error), status, sentence);
  assert_null(onnx);
  free(file.data);
}

static void test_refused(void **state) {
  test_message graph = {0}, function, reference = {0};
  (void)state;
  function = test_onnx_function("gate", "a", "b");
  refuse(&graph, &function, HEED_INVALID_FILE, "two functions my.gate");
  test_put_call(&graph, 1, "gate", "x,x,x", "y", NULL);
  refuse(&graph, NULL, HEED_INVALID_FILE, "more inputs or outputs than its function");
  test_put_call(&graph, 1, "pair", "x,x", "y", NULL);
  function = test_onnx_function("pair", "a,a", "b");
  refuse(&graph, &function, HEED_INVALID_FILE, "two inputs of one name");
  function = test_onnx_function("old", "a", "b");
  test_put_set(&function, 11);
  refuse(&graph, &function, HEED_UNSUPPORTED,
         "another operator set ai.onnx than its model (found 11, expected 17)");
  test_put_call(&graph, 1, "self", "x", "y", NULL);
  function = test_onnx_function("self", "a", "b");
  test_put_call(&function, 7, "self", "a", "b", NULL);
  refuse(&graph, &function, HEED_UNSUPPORTED, "calls functions too deeply");
  test_put_call(&graph, 1, "choose", ",x", "y", NULL);
  refuse(&graph, NULL, HEED_INVALID_FILE, "its condition is missing");
  test_put_reference(&reference, "alpha", "alpha");
  test_put_node(&graph, "Elu", "elu", "x", "y", &reference);
  refuse(&graph, NULL, HEED_INVALID_FILE, "refers to a function's, and it stands in none");
}

/* A file of a few kilobytes whose functions would be 10^12 nodes, or as many calls of nothing. */
static void test_bombs(void **state) {
  (void)state;
  for (int empty = 0; empty < 2; empty++) {
    test_message graph = {0};
    test_put_call(&graph, 1, "f0", "", "", NULL);
    test_put_value(&graph, 11, "x");
    test_put_value(&graph, 12, "x");
    test_message file = test_onnx_file(&graph);
    for (char level = '0'; level < '5'; level++) {
      const char name[] = {'f', level, '\0'}, next[] = {'f', (char)(level + 1), '\0'};
      test_message function = test_onnx_function(name, "", "");
      for (int i = 0; i < 1000 && level < '4'; i++) test_put_call(&function, 7, next, "", "", NULL);
      if (level == '4' && !empty) test_put_node_in(&function, 7, "Neg", "n", "a", "b", NULL);
      test_put_message(&file, 25, &function);
    }
    heed_onnx *onnx = NULL;
    const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "f", NULL, NULL};
    assert_fails(heed_onnx_open(context, &desc, &onnx, &error), HEED_UNSUPPORTED,
                 "reading takes too much memory");
    free(file.data);
  }
}

/* Each allocation fails once. */
static void test_memory(void **state) {
  test_message graph = {0}, beta = {0};
  (void)state;
  test_put_float(&beta, "beta", 0.5f);
  test_put_call(&graph, 1, "twice", "x", "y", &beta);
  test_message file = file_of(&graph);
  assert_true(test_onnx_fail_each(&file, input, true) > 10);
  free(file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_branches),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_bombs),
                                     cmocka_unit_test(test_memory)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  if (heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK) return 1;
  const int failed = cmocka_run_group_tests_name("onnx_functions", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
