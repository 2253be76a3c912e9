/* What is an attention of an ONNX graph, on heed's kernels beside the same graph in double. */
#include <stdio.h>

#include "support/onnx_pair.h"

/* An attention that is one node, of query, key and value [1, 2, 4, 6], after a rotation. */
static test_message attention_file(bool interleaved) {
  static const uint32_t dims[] = {1, 2, 4, 6}, table[] = {1, 4, 3};
  test_message graph = {0}, causal = {0}, pairs = {0};
  test_put_floats(&graph, "q0", 4, dims);
  test_put_floats(&graph, "k", 4, dims);
  test_put_floats(&graph, "v", 4, dims);
  test_put_floats(&graph, "c", 3, table);
  test_put_floats(&graph, "s", 3, table);
  test_put_integer(&causal, "is_causal", 1);
  test_put_integer(&pairs, "interleaved", interleaved);
  test_put_node(&graph, "ReduceSum", "sum", "x", "t", NULL); /* 3.5, which nothing folds */
  test_put_node(&graph, "Div", "norm", "q0,t", "q1", NULL);
  test_put_node(&graph, "RotaryEmbedding", "turn", "q1,c,s", "q", &pairs);
  test_put_node(&graph, "Attention", "one", "q,k,v", "y", &causal);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  return test_onnx_file(&graph);
}

/* Scores that a reshape gives five axes for their bias: [2, 6, 3, 3] as `inner`, plus `bias`. */
static test_message window_file(const int64_t *inner, uint32_t rank, const uint32_t *bias) {
  static const uint32_t dims[] = {2, 6, 3, 2}, four[] = {4}, five[] = {5};
  static const int64_t outer[] = {2, 6, 3, 3}, order[] = {0, 1, 3, 2};
  test_message graph = {0}, turned = {0};
  test_put_floats(&graph, "q0", 4, dims);
  test_put_floats(&graph, "bias", rank, bias);
  test_put_raw(&graph, "inner", 7, 1, five, inner, 5 * sizeof *inner);
  test_put_raw(&graph, "outer", 7, 1, four, outer, sizeof outer);
  test_put_node(&graph, "ReduceSum", "sum", "x", "t", NULL); /* 3.5, which nothing folds */
  test_put_node(&graph, "Sin", "sin", "q0", "sines", NULL);
  test_put_node(&graph, "Div", "q", "sines,t", "q", NULL);
  test_put_node(&graph, "Add", "v", "sines,t", "v", NULL);
  test_put_integers(&turned, "perm", 4, order);
  test_put_node(&graph, "Transpose", "turn", "q", "k", &turned);
  test_put_node(&graph, "MatMul", "scores", "q,k", "s", NULL);
  test_put_node(&graph, "Reshape", "in", "s,inner", "s5", NULL);
  test_put_node(&graph, "Add", "add", "s5,bias", "b5", NULL);
  test_put_node(&graph, "Reshape", "out", "b5,outer", "b", NULL);
  test_put_node(&graph, "Softmax", "soft", "b", "w", NULL);
  test_put_node(&graph, "MatMul", "values", "w,v", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  return test_onnx_file(&graph);
}

/* A bias of five axes, as that of shifted windows, and of fewer axes than scores of five; where a
 * reshape joins axes that are not 1, the bias is none of the attention's own axes. */
static void test_bias_axes(void **state) {
  static const int64_t whole[] = {1, 2, 6, 3, 3}, parts[] = {2, 2, 3, 3, 3},
                       halves[] = {2, 6, 1, 3, 3};
  static const uint32_t window[] = {1, 2, 1, 3, 3}, full[] = {1, 2, 6, 3, 3},
                        heads[] = {1, 6, 3, 3}, inner[] = {2, 1, 3, 3}, last[] = {6, 1, 3, 3};
  (void)state;
  check_made(window_file(whole, 5, window), 2);
  check_made(window_file(whole, 5, full), 2);
  check_made(window_file(whole, 4, heads), 2);
  check_made(window_file(parts, 4, inner), 2);
  check_made(window_file(parts, 5, (const uint32_t[]){1, 2, 1, 3, 3}), 2);
  check_made(window_file(parts, 5, (const uint32_t[]){2, 2, 3, 3, 3}), 2);
  check_made(window_file(parts, 5, (const uint32_t[]){2, 1, 1, 3, 3}), 2);
  check_made(window_file(halves, 4, last), 2);
}

/* Weights a of x that other nodes read too: before the product whose factor they are, behind it, in
 * what they weigh, and nothing but an output. */
static void test_weights_outside(void **state) {
  static const char *const products[] = {"Cos x v;MatMul a,v y;Sin a e",
                                         "Sin a e;Cos x v;MatMul a,v y",
                                         "MatMul s,a g;MatMul g,x v;MatMul a,v y;Sin a e",
                                         "MatMul s,a g;MatMul g,x v;MatMul a,v y;MatMul a,y e"};
  (void)state;
  for (size_t i = 0; i < 2 * sizeof products / sizeof *products; i++) {
    const char *at = products[i / 2];
    test_message graph = {0}, axes = {0};
    test_put_integers(&axes, "perm", 2, (const int64_t[]){1, 0});
    test_put_node(&graph, "Sin", "q", "x", "q", NULL);
    test_put_node(&graph, "Transpose", "t", "q", "t", &axes);
    test_put_node(&graph, "MatMul", "scores", "q,t", "s", NULL);
    test_put_node(&graph, "Softmax", "soft", "s", "a", NULL);
    for (int next = 0; *at; at += next + (at[next] == ';')) {
      char op[16], from[16], to[16];
      assert_int_equal(sscanf(at, "%15s %15s %15[^;]%n", op, from, to, &next), 3);
      test_put_node(&graph, op, to, from, to, NULL);
    }
    test_put_value(&graph, 11, "x");
    test_put_value(&graph, 12, "y");
    test_put_value(&graph, 12, "e");
    if (i % 2) test_put_value(&graph, 12, "a");
    check_made(test_onnx_file(&graph), i % 2 ? 4 : 3);
  }
}

static void test_made(void **state) {
  (void)state;
  check_made(test_onnx_linear(), 1);
  check_made(test_onnx_block(), 3);
  check_made(attention_file(false), 2);
  check_made(attention_file(true), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bias_axes),
                                     cmocka_unit_test(test_weights_outside),
                                     cmocka_unit_test(test_made)};
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
