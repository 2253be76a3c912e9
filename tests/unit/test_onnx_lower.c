/* ONNX graphs on heed's kernels, beside the same graph in double and beside the eager model that it
 * was exported from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "onnx/lower/lower.h"
#include "support/onnx_file.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

typedef struct run {
  heed_onnx_result *result;
  heed_safetensors *tensors;
} run;

static heed_onnx *open_file(const char *name, unsigned char **bytes) {
  size_t size;
  heed_onnx *onnx;
  *bytes = test_read_vector(name, &size);
  const heed_onnx_desc desc = {sizeof desc, {size, *bytes, NULL, NULL}, name, NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  return onnx;
}

static run run_graph(heed_onnx *onnx, heed_source inputs, heed_backend *on) {
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc, .inputs = inputs, .attentions = true, .backend = on};
  run made;
  assert_ok(heed_onnx_evaluate(onnx, &desc, &made.result, &error));
  const heed_source source = heed_onnx_result_source(made.result);
  assert_ok(heed_safetensors_open(context, &source, "result", &made.tensors, &error));
  return made;
}

static void close_run(run *made) {
  heed_safetensors_destroy(made->tensors);
  heed_onnx_result_destroy(made->result);
}

/* Every tensor of `a` that `b` has, within `tolerance`; how many. A map has the shape that the file
 * gives it in onnxruntime, which may be [B H, Tq, Tk]. */
static uint32_t compare(const heed_safetensors *a, const heed_safetensors *b, double tolerance,
                        bool same_shape) {
  uint32_t compared = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(a); i++) {
    const heed_safetensors_tensor *x = heed_safetensors_get(a, i),
                                  *y = heed_safetensors_find(b, x->name);
    if (!y) continue;
    assert_true(same_shape ? heed_shape_equal(&x->shape, &y->shape) : x->count == y->count);
    float *found = malloc((size_t)x->count * sizeof *found),
          *want = malloc((size_t)x->count * sizeof *want);
    assert_ok(heed_safetensors_read(a, x, 0, x->count, found, &error));
    assert_ok(heed_safetensors_read(b, y, 0, x->count, want, &error));
    for (uint64_t k = 0; k < x->count; k++)
      if (!(fabs((double)found[k] - (double)want[k]) <= tolerance * (1 + fabs((double)want[k]))))
        fail_msg("%s[%llu]: found %g, expected %g", x->name, (unsigned long long)k,
                 (double)found[k], (double)want[k]);
    free(found);
    free(want);
    compared++;
  }
  return compared;
}

/* A graph on kernels beside the same graph in double, beside the eager model, and if given beside
 * what onnxruntime made of it. */
static void check_file(const char *name, const char *inputs, const char *onnxruntime,
                       double tolerance, uint32_t outputs) {
  unsigned char *bytes, *given;
  size_t size;
  heed_safetensors *eager;
  heed_onnx *onnx = open_file(name, &bytes);
  given = test_read_vector(inputs, &size);
  const heed_source source = {size, given, NULL, NULL};
  assert_ok(heed_safetensors_open(context, &source, inputs, &eager, &error));
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(compare(kernels.tensors, reference.tensors, tolerance, true), outputs);
  assert_int_equal(heed_safetensors_count(kernels.tensors), outputs);
  assert_int_equal(compare(kernels.tensors, eager, tolerance, true), outputs);
  if (onnxruntime) {
    heed_safetensors *other;
    unsigned char *made = test_read_vector(onnxruntime, &size);
    const heed_source by_other = {size, made, NULL, NULL};
    assert_ok(heed_safetensors_open(context, &by_other, onnxruntime, &other, &error));
    assert_int_equal(heed_safetensors_count(other), outputs);
    assert_int_equal(compare(kernels.tensors, other, tolerance, false), outputs);
    assert_int_equal(compare(reference.tensors, other, tolerance, false), outputs);
    heed_safetensors_destroy(other);
    free(made);
  }
  close_run(&kernels);
  close_run(&reference);
  heed_safetensors_destroy(eager);
  heed_onnx_destroy(onnx);
  free(given);
  free(bytes);
}

static void test_vit(void **state) {
  (void)state;
  check_file("onnx/model.onnx", "onnx/io.safetensors", NULL, 2e-5, 4);
}

/* All floats of a file in 16 bits: kernels do not round to them, and the double way does. */
static void test_halves(void **state) {
  (void)state;
  check_file("onnx/vit/onnx/model_fp16.onnx", "onnx/io.safetensors", NULL, 1e-2, 4);
}

/* Encoders of other families, at operator sets 11, 14 and 17, with open and with fixed sizes. */
static void test_encoders(void **state) {
  static const struct {
    const char *name;
    uint32_t outputs; /* with attentions */
  } files[] = {{"deit_17", 4},         {"dinov2_11_dynamic", 4}, {"clip_14", 4},
               {"mean_11", 4},         {"siglip_17_dynamic", 5}, {"joined_14_dynamic", 4},
               {"bert_14_dynamic", 4}, {"clip_text_17", 4}};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char model[64], inputs[64], other[64];
    snprintf(model, sizeof model, "onnx/graphs/%s.onnx", files[i].name);
    snprintf(inputs, sizeof inputs, "onnx/graphs/%s.safetensors", files[i].name);
    snprintf(other, sizeof other, "onnx/graphs/%s.onnxruntime.safetensors", files[i].name);
    check_file(model, inputs, other, 2e-5, files[i].outputs);
  }
}

/* One output of heed's own graph for the weights of a file, beside that of the file's graph. */
static void compare_value(heed_session *session, const heed_graph *own, const char *name,
                          const run *graph, const char *saved, double tolerance) {
  const heed_value value = heed_graph_find(own, name);
  const heed_safetensors_tensor *y = heed_safetensors_find(graph->tensors, saved);
  assert_non_null(y);
  float *found = malloc((size_t)y->count * sizeof *found),
        *want = malloc((size_t)y->count * sizeof *want);
  assert_ok(heed_session_read(session, value, 0, y->count, want, &error));
  assert_ok(heed_safetensors_read(graph->tensors, y, 0, y->count, found, &error));
  for (uint64_t k = 0; k < y->count; k++)
    if (!(fabs((double)found[k] - (double)want[k]) <= tolerance))
      fail_msg("%s[%llu]: found %g, expected %g", name, (unsigned long long)k, (double)found[k],
               (double)want[k]);
  free(found);
  free(want);
}

static heed_model *open_model(heed_onnx *onnx, unsigned char **config) {
  size_t size;
  heed_model *model;
  *config = test_read_vector("onnx/vit/config.json", &size);
  const heed_model_file files[] = {{"config.json", {size, *config, NULL, NULL}},
                                   {"model.safetensors", heed_onnx_source(onnx)}};
  const heed_model_desc desc = {.struct_size = sizeof desc, .files = files, .file_count = 2};
  assert_ok(heed_model_open(context, &desc, &model, &error));
  return model;
}

/* Weights as they are, in 8 and in 4 bits: the graph gives the maps and classes of heed's own. */
static void test_same(void **state) {
  static const char *const names[] = {"onnx/model.onnx", "onnx/vit/onnx/model_quantized.onnx",
                                      "onnx/vit/onnx/model_q4.onnx"};
  (void)state;
  size_t size;
  unsigned char *given = test_read_vector("onnx/io.safetensors", &size);
  const heed_source source = {size, given, NULL, NULL};
  heed_safetensors *inputs;
  assert_ok(heed_safetensors_open(context, &source, "io", &inputs, &error));
  const heed_safetensors_tensor *pixels = heed_safetensors_find(inputs, "pixel_values");
  float *data = malloc((size_t)pixels->count * sizeof *data);
  assert_ok(heed_safetensors_read(inputs, pixels, 0, pixels->count, data, &error));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    unsigned char *bytes, *config;
    heed_graph *own;
    heed_plan *plan;
    heed_session *session;
    heed_onnx *onnx = open_file(names[i], &bytes);
    heed_model *model = open_model(onnx, &config);
    const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
    assert_ok(heed_model_build(model, &build, &own, &error));
    const heed_value taps[] = {heed_graph_find(own, "layer.0.attention.weights"),
                               heed_graph_find(own, "layer.1.attention.weights")};
    const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = taps, .tap_count = 2};
    assert_ok(heed_plan_create(own, backend, &desc, &plan, &error));
    assert_ok(heed_session_create(plan, NULL, &session, &error));
    assert_ok(heed_session_write(session, heed_graph_find(own, "pixel_values"), data,
                                 (size_t)pixels->count * sizeof *data, &error));
    assert_ok(heed_session_run(session, NULL, &error));
    run graph = run_graph(onnx, source, backend);
    compare_value(session, own, "layer.0.attention.weights", &graph, "attention.0", 1e-6);
    compare_value(session, own, "layer.1.attention.weights", &graph, "attention.1", 1e-6);
    compare_value(session, own, "logits", &graph, "logits", 2e-5);
    close_run(&graph);
    heed_session_destroy(session);
    heed_plan_destroy(plan);
    heed_graph_destroy(own);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(config);
    free(bytes);
  }
  free(data);
  heed_safetensors_destroy(inputs);
  free(given);
}

/* The steps of a graph with its attentions tapped, as a count of each op; *total of all. */
static void count_steps(heed_graph *graph, const heed_value *taps, uint32_t tap_count,
                        uint32_t *total, char *ops, size_t size) {
  heed_plan *plan;
  const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = taps, .tap_count = tap_count};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  *total = heed_plan_step_count(plan);
  *ops = '\0';
  for (uint32_t i = 0; i < *total; i++) {
    heed_plan_step step;
    heed_plan_step_info(plan, i, &step);
    snprintf(ops + strlen(ops), size - strlen(ops), "%s ", step.op);
  }
  heed_plan_destroy(plan);
}

/* The export of a ViT has the steps of heed's own graph for the same weights, op by op. */
static void test_steps(void **state) {
  (void)state;
  unsigned char *bytes;
  size_t size;
  heed_onnx *onnx = open_file("onnx/model.onnx", &bytes);
  unsigned char *config, *given = test_read_vector("onnx/io.safetensors", &size);
  const heed_source source = {size, given, NULL, NULL};
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  heed_model *model = open_model(onnx, &config);
  heed_graph *own;
  heed_value taps[2], lowered_taps[2];
  uint32_t own_steps, steps;
  char own_ops[1024], ops[1024];
  assert_ok(heed_model_build(model, &build, &own, &error));
  heed_lower l = {.file = onnx, .error = &error};
  heed_lower_limit(&l, size, 0, 0);
  assert_ok(heed_lower_graph(&l, &source, "io", true));
  for (uint32_t i = 0; i < 2; i++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    taps[i] = heed_graph_find(own, name);
    lowered_taps[i] = heed_graph_find(l.graph, name);
    assert_int_equal(heed_lower_weights(&l, i).id, lowered_taps[i].id);
  }
  count_steps(own, taps, 2, &own_steps, own_ops, sizeof own_ops);
  count_steps(l.graph, lowered_taps, 2, &steps, ops, sizeof ops);
  /* before the layers the class token may come before or after its position is added */
  assert_int_equal(steps, own_steps);
  assert_string_equal(strstr(ops, "layer_norm"), strstr(own_ops, "layer_norm"));
  heed_lower_close(&l);
  heed_graph_destroy(own);
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(config);
  free(given);
  free(bytes);
}

/* x [2, 3] for files that are made here. */
static const unsigned char input[] =
    "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}       "
    "\0\0\x80\x3F\0\0\0\x40\0\0\0\xBF\0\0\x40\x3F\0\0\x80\x3E\0\0\0\0";

static void check_made(test_message file, uint32_t outputs) {
  heed_onnx *onnx;
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(compare(kernels.tensors, reference.tensors, 2e-5, true), outputs);
  close_run(&kernels);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

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

/* A tensor of `count` elements of one byte, or of a float; without axes where count is 0. */
static void put_small(test_message *graph, const char *name, uint32_t type, uint32_t count,
                      const void *bytes, size_t size) {
  test_message tensor = {0};
  if (count) test_put_number(&tensor, 1, count);
  test_put_number(&tensor, 2, type);
  test_put_text(&tensor, 8, name);
  test_put_bytes(&tensor, 9, bytes, size);
  test_put_message(graph, 5, &tensor);
}

/* The kernels' outputs are those in double, and so many activations were not rounded. */
static void check_rounded(test_message *graph, const char *outputs, double tolerance,
                          uint32_t unrounded) {
  char name[] = "y";
  uint32_t count = 0;
  test_put_value(graph, 11, "x");
  for (; outputs[count]; count++) {
    name[0] = outputs[count];
    test_put_value(graph, 12, name);
  }
  test_message file = test_onnx_file(graph);
  heed_onnx *onnx;
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(heed_onnx_result_unrounded(kernels.result), unrounded);
  assert_int_equal(heed_onnx_result_unrounded(reference.result), 0);
  assert_int_equal(compare(kernels.tensors, reference.tensors, tolerance, true), count);
  close_run(&kernels);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* x by whole numbers [3, 2] after a rounding to 8 bits, as exporters of q8 files write it. */
static test_message dynamic_file(void) {
  static const float scale = 0.01f;
  static const signed char weight[] = {100, -3, 7, 55, -128, 20};
  test_message graph = {0}, tensor = {0};
  put_small(&graph, "t", 1, 0, &scale, sizeof scale);
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
  put_small(&one, "s", 1, 0, &scale, sizeof scale);
  put_small(&one, "z", 2, 0, &zero, 1);
  test_put_node(&one, "QuantizeLinear", "round", "x,s,z", "q", NULL);
  test_put_node(&one, "DequantizeLinear", "back", "q,s,z", "y", NULL);
  check_rounded(&one, "y", 1e-6, 0);
  put_small(&several, "s", 1, 3, scales, sizeof scales);
  put_small(&several, "z", 3, 3, zeros, sizeof zeros);
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
  put_small(&columns, "v", 3, 2, zeros, 2);
  put_product(&columns, "q,w,z,v", "f,st");
  check_rounded(&columns, "y", 3 * 1.28 * 1.25 / 255, 1);
  put_small(&rounded, "v", 3, 2, zeros, 2);
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

/* a: relu of p, or its gelu by Erf. */
static void put_active(test_message *graph, bool gelu) {
  static const float root = 1.41421356f, one = 1, half = 0.5f;
  if (!gelu) {
    test_put_node(graph, "Relu", "active", "p", "a", NULL);
    return;
  }
  put_small(graph, "root", 1, 0, &root, sizeof root);
  put_small(graph, "one", 1, 0, &one, sizeof one);
  put_small(graph, "half", 1, 0, &half, sizeof half);
  test_put_node(graph, "Div", "divided", "p,root", "d", NULL);
  test_put_node(graph, "Erf", "erf", "d", "e", NULL);
  test_put_node(graph, "Add", "more", "e,one", "m", NULL);
  test_put_node(graph, "Mul", "times", "p,m", "t", NULL);
  test_put_node(graph, "Mul", "halved", "t,half", "a", NULL);
}

/* A product of which one row is read: made of that row alone, as of x [2, 3] the second. */
static void check_rows_read(bool gelu) {
  static const float weight[] = {1, -2, 3, 0.5f, -1, 4};
  static const int64_t second = 1;
  test_message graph = {0}, tensor = {0};
  test_put_number(&tensor, 1, 3);
  test_put_number(&tensor, 1, 2);
  test_put_number(&tensor, 2, 1);
  test_put_text(&tensor, 8, "w");
  test_put_bytes(&tensor, 9, weight, sizeof weight);
  test_put_message(&graph, 5, &tensor);
  put_small(&graph, "i", 7, 0, &second, sizeof second);
  test_put_node(&graph, "MatMul", "product", "x,w", "p", NULL);
  put_active(&graph, gelu);
  test_put_node(&graph, "Gather", "row", "a,i", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  heed_onnx *onnx;
  heed_onnx_lowered *lowered;
  heed_node_info node;
  heed_value_info made;
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_onnx_lower_desc how = {.struct_size = sizeof how, .inputs = source};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_ok(heed_onnx_lower(onnx, &how, &lowered, &error));
  heed_graph *ops = heed_onnx_lowered_graph(lowered);
  for (uint32_t n = 0; n < heed_graph_node_count(ops); n++) {
    assert_ok(heed_graph_node_info(ops, n, &node));
    assert_ok(heed_graph_value_info(ops, node.outputs[0], &made));
    assert_true(heed_shape_count(&made.shape) <= 3);
  }
  heed_onnx_lowered_destroy(lowered);
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(compare(kernels.tensors, reference.tensors, 1e-6, true), 1);
  close_run(&kernels);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static void test_rows_read(void **state) {
  (void)state;
  check_rows_read(false);
  check_rows_read(true);
}

/* Whole numbers are divided otherwise than floats. */
static void test_whole(void **state) {
  (void)state;
  test_message graph = {0};
  static const unsigned char two = 2;
  static const float scale = 0.1f;
  heed_onnx *onnx;
  heed_onnx_result *result;
  put_small(&graph, "s", 1, 0, &scale, sizeof scale);
  put_small(&graph, "z", 2, 0, &two, 1);
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

static void put_list(test_message *attributes, const char *name, const char *items) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  for (; *items; items += strcspn(items, ",") + (items[strcspn(items, ",")] == ','))
    test_put_number(&attribute, 8, (uint64_t)strtoll(items, NULL, 10));
  test_put_number(&attribute, 20, 7);
  test_put_message(attributes, 5, &attribute);
}

/* y of x [2, 3] and image [2, 4, 5, 7], which is no constant, by a node with a kernel of these
 * axes. */
static void convolve(uint32_t axes, const uint32_t *kernel, const char *strides, const char *pads,
                     const char *dilations, int64_t group) {
  static const uint32_t image[] = {2, 4, 5, 7};
  test_message graph = {0}, attributes = {0};
  test_put_floats(&graph, "i", axes + 2, image);
  test_put_floats(&graph, "w", axes + 2, kernel);
  test_put_floats(&graph, "b", 1, kernel);
  test_put_node(&graph, "ReduceSum", "sum", "x", "t", NULL);
  if (axes == 1) {
    static const int64_t shape[] = {1, 1, 1};
    put_small(&graph, "shape", 7, 3, shape, sizeof shape);
    test_put_node(&graph, "Reshape", "flat", "t,shape", "t1", NULL);
  }
  test_put_node(&graph, "Sin", "sin", axes == 1 ? "t1" : "t", "u", NULL);
  test_put_node(&graph, "Mul", "image", "i,u", "image", NULL);
  put_list(&attributes, "strides", strides);
  put_list(&attributes, "pads", pads);
  put_list(&attributes, "dilations", dilations);
  test_put_integer(&attributes, "group", group);
  test_put_node(&graph, "Conv", "one", "image,w,b", "y", &attributes);
  check_rounded(&graph, "y", 2e-5, 0);
}

static void test_convolutions(void **state) {
  (void)state;
  convolve(2, (const uint32_t[]){3, 4, 3, 3}, "1,1", "1,1,1,1", "1,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 3, 2}, "1,1", "2,0,1,3", "1,2", 1);
  convolve(2, (const uint32_t[]){3, 4, 2, 3}, "1,1", "0,0,0,0", "3,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 3, 1}, "1,1", "0,1,0,1", "2,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 5, 7}, "1,1", "0,0,0,0", "1,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 1, 1}, "2,3", "0,0,0,0", "1,1", 1);
  convolve(2, (const uint32_t[]){2, 4, 2, 3}, "2,1", "0,2,1,0", "2,3", 1);
  convolve(2, (const uint32_t[]){4, 1, 3, 2}, "1,2", "1,0,0,1", "1,1", 4);
  convolve(2, (const uint32_t[]){6, 2, 2, 2}, "1,1", "0,0,0,0", "1,1", 2);
  convolve(1, (const uint32_t[]){3, 4, 3}, "2", "1,0", "1", 1);
}

/* Parts of x with steps, also backwards, and x between constants. */
static void test_parts(void **state) {
  static const struct {
    int64_t first[2], end[2], step[2];
  } parts[] = {{{0, 0}, {2, 3}, {1, 2}},
               {{-1, 2}, {INT64_MIN, INT64_MIN}, {-1, -2}},
               {{0, -1}, {INT64_MAX, -3}, {2, -1}},
               {{1, 0}, {2, 3}, {INT64_MAX, INT64_MAX}}};
  static const int64_t pads[] = {1, 0, 2, 1};
  (void)state;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    static const int64_t axes[] = {0, 1};
    test_message graph = {0};
    put_small(&graph, "first", 7, 2, parts[i].first, sizeof parts[i].first);
    put_small(&graph, "end", 7, 2, parts[i].end, sizeof parts[i].end);
    put_small(&graph, "axes", 7, 2, axes, sizeof axes);
    put_small(&graph, "step", 7, 2, parts[i].step, sizeof parts[i].step);
    test_put_node(&graph, "Sin", "sin", "x", "s", NULL);
    test_put_node(&graph, "Slice", "part", "s,first,end,axes,step", "p", NULL);
    test_put_node(&graph, "Abs", "abs", "p", "y", NULL);
    check_rounded(&graph, "y", 1e-6, 0);
  }
  test_message graph = {0};
  static const float with = 0.25f;
  put_small(&graph, "pads", 7, 4, pads, sizeof pads);
  put_small(&graph, "with", 1, 0, &with, sizeof with);
  test_put_node(&graph, "Sin", "sin", "x", "s", NULL);
  test_put_node(&graph, "Pad", "pad", "s,pads,with", "y", NULL);
  check_rounded(&graph, "y", 1e-6, 0);
}

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
    put_small(&graph, "sides", 7, 2, sides, sizeof sides);
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

/* Every allocation of a run fails once; returns how many there are. */
static size_t fail_each(const char *name, heed_source model, heed_source inputs) {
  for (size_t fail_at = 1;; fail_at++) {
    test_allocator allocator = {0};
    heed_context_desc desc = test_context_desc(&allocator);
    const heed_cpu_desc one = {sizeof one, 1, NULL};
    heed_context *other;
    heed_backend *cpu;
    heed_onnx *file;
    heed_onnx_result *result = NULL;
    assert_ok(heed_context_create(&desc, &other, &error));
    assert_ok(heed_cpu_backend_create(other, &one, &cpu, &error));
    const heed_onnx_desc open = {sizeof open, model, name, NULL, NULL};
    assert_ok(heed_onnx_open(other, &open, &file, &error));
    allocator.fail_at = allocator.total + fail_at;
    const heed_onnx_evaluate_desc how = {
        .struct_size = sizeof how, .inputs = inputs, .attentions = true, .backend = cpu};
    const heed_status status = heed_onnx_evaluate(file, &how, &result, &error);
    if (status == HEED_OK) heed_onnx_result_destroy(result);
    heed_onnx_destroy(file);
    heed_backend_destroy(cpu);
    heed_context_destroy(other);
    assert_int_equal(allocator.live, 0);
    if (status == HEED_OK) return fail_at - 1;
    if (status != HEED_OUT_OF_MEMORY)
      fail_msg("%s, allocation %zu: %s", name, fail_at, heed_status_name(status));
  }
}

static void test_memory(void **state) {
  (void)state;
  static const char *const graphs[] = {"clip_14", "dinov2_11_dynamic", "bert_14_dynamic"};
  test_message whole = test_onnx_block();
  fail_each("block", (heed_source){whole.size, whole.data, NULL, NULL},
            (heed_source){sizeof input - 1, input, NULL, NULL});
  free(whole.data);
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    char path[96];
    size_t size, given;
    snprintf(path, sizeof path, "onnx/graphs/%s.onnx", graphs[i]);
    unsigned char *bytes = test_read_vector(path, &size);
    snprintf(path, sizeof path, "onnx/graphs/%s.safetensors", graphs[i]);
    unsigned char *inputs = test_read_vector(path, &given);
    assert_true(fail_each(graphs[i], (heed_source){size, bytes, NULL, NULL},
                          (heed_source){given, inputs, NULL, NULL}) > 50);
    free(bytes);
    free(inputs);
  }
}

/* What the nodes make, as floats, beside the same in double. */
static void check_floats(test_message *graph, const char *from) {
  test_message cast = {0};
  test_put_integer(&cast, "to", 1);
  test_put_node(graph, "Cast", "floats", from, "y", &cast);
  check_rounded(graph, "y", 2e-5, 0);
}

/* Comparisons and truth values of computed values, and what chooses by them. */
/* Activations on kernels beside the same ones in double, of attributes that are given and not. */
static void test_activations(void **state) {
  static const struct {
    const char *op, *inputs, *attributes; /* comma-separated, each 0.75 */
  } nodes[] = {{"LeakyRelu", "x", ""},
               {"LeakyRelu", "x", "alpha"},
               {"Elu", "x", ""},
               {"Elu", "x", "alpha"},
               {"Selu", "x", ""},
               {"Selu", "x", "alpha,gamma"},
               {"Celu", "x", ""},
               {"Celu", "x", "alpha"},
               {"PRelu", "x,slope", ""},
               {"PRelu", "x,slopes", ""},
               {"HardSigmoid", "x", ""},
               {"HardSigmoid", "x", "alpha,beta"},
               {"HardSwish", "x", ""},
               {"Softsign", "x", ""},
               {"ThresholdedRelu", "x", ""},
               {"ThresholdedRelu", "x", "alpha"},
               {"Softplus", "x", ""}};
  static const float slopes[] = {0.25f, -2, 3};
  (void)state;
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    test_message graph = {0}, attributes = {0};
    char names[16];
    snprintf(names, sizeof names, "%s", nodes[i].attributes);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
      test_put_float(&attributes, name, 0.75f);
    put_small(&graph, "slope", 1, 0, slopes, sizeof *slopes);
    put_small(&graph, "slopes", 1, 3, slopes, sizeof slopes);
    test_put_node(&graph, nodes[i].op, "one", nodes[i].inputs, "y", &attributes);
    check_rounded(&graph, "y", 2e-6, 0);
  }
}

static void test_truth(void **state) {
  static const char *const comparisons[] = {"Equal", "Less", "LessOrEqual", "Greater",
                                            "GreaterOrEqual"},
                           *const both[] = {"And", "Or", "Xor"};
  static const float half = 0.25f;
  (void)state;
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
    test_message graph = {0}, between = {0};
    put_small(&graph, "h", 1, 0, &half, sizeof half);
    test_put_node(&graph, comparisons[i], "one", "x,h", "b", NULL);
    check_floats(&graph, "b");
    test_put_node(&between, "ReduceMax", "most", "x", "m", NULL);
    test_put_node(&between, comparisons[i], "one", "x,m", "b", NULL);
    test_put_node(&between, "Neg", "minus", "x", "n", NULL);
    test_put_node(&between, "Where", "choose", "b,x,n", "y", NULL);
    check_rounded(&between, "y", 2e-5, 0);
  }
  for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
    test_message graph = {0}, cast = {0};
    put_small(&graph, "h", 1, 0, &half, sizeof half);
    test_put_integer(&cast, "to", 9);
    test_put_node(&graph, "Cast", "any", "x", "a", &cast);
    test_put_node(&graph, "Greater", "more", "x,h", "g", NULL);
    test_put_node(&graph, "Not", "less", "g", "l", NULL);
    test_put_node(&graph, both[i], "two", "a,l", "b", NULL);
    check_floats(&graph, "b");
  }
}

/* The index of the largest entry, what it takes, and casts. */
static void test_indices(void **state) {
  static const int64_t many[] = {2, 0, 1, 1, 2, 0, 2, -3, 1, 0, 0, 2, 1, 0};
  (void)state;
  for (int least = 0; least < 2; least++)
    for (int axis = 0; axis < 2; axis++)
      for (int keep = 0; keep < 2; keep++) {
        test_message graph = {0}, where = {0};
        test_put_integer(&where, "axis", axis - (least ? 2 : 0));
        test_put_integer(&where, "keepdims", keep);
        test_put_integer(&where, "select_last_index", axis);
        test_put_node(&graph, least ? "ArgMin" : "ArgMax", "index", "x", "i", &where);
        check_floats(&graph, "i");
      }
  test_message rows = {0}, elements = {0}, known = {0}, cut = {0}, across = {0}, down = {0},
               whole = {0}, axis = {0};
  /* the entry of each row where it is largest: [2, 1] of an axis of 3 */
  test_put_integer(&across, "axis", 1);
  test_put_node(&rows, "ArgMax", "index", "x", "i", &across);
  test_put_integer(&down, "axis", 1);
  test_put_node(&rows, "GatherElements", "take", "x,i", "y", &down);
  check_rounded(&rows, "y", 0, 0);
  test_put_integer(&axis, "axis", 1);
  test_put_node(&elements, "ArgMax", "index", "x", "i", NULL); /* [1, 3], below 2 */
  test_put_node(&elements, "Gather", "take", "x,i", "y", &axis);
  check_rounded(&elements, "y", 0, 0);
  /* more parts than are joined */
  test_message take = {0};
  put_small(&known, "p", 7, 14, many, sizeof many);
  test_put_integer(&take, "axis", 1);
  test_put_node(&known, "Gather", "take", "x,p", "y", &take);
  check_rounded(&known, "y", 0, 0);
  test_put_integer(&whole, "to", 7);
  test_put_node(&cut, "Exp", "exp", "x", "e", NULL);
  test_put_node(&cut, "Neg", "minus", "e", "n", NULL);
  test_put_node(&cut, "Cast", "whole", "n", "i", &whole);
  check_floats(&cut, "i");
}

/* y and z of a graph of x, in double, are the same numbers. */
static void check_same(test_message *graph) {
  heed_onnx *onnx;
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  test_put_value(graph, 11, "x");
  test_put_value(graph, 12, "y");
  test_put_value(graph, 12, "z");
  test_message file = test_onnx_file(graph);
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  run reference = run_graph(onnx, source, NULL);
  const heed_safetensors_tensor *y = heed_safetensors_find(reference.tensors, "y"),
                                *z = heed_safetensors_find(reference.tensors, "z");
  float found[6], wanted[6];
  assert_true(heed_shape_equal(&y->shape, &z->shape));
  assert_ok(heed_safetensors_read(reference.tensors, y, 0, y->count, found, &error));
  assert_ok(heed_safetensors_read(reference.tensors, z, 0, z->count, wanted, &error));
  assert_memory_equal(found, wanted, (size_t)y->count * sizeof *found);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* Entries by tuples of indices, beside what spells the same. */
static void test_tuples(void **state) {
  (void)state;
  static const uint32_t pair[] = {2, 2}, column[] = {2, 1}, one[] = {1, 1}, row[] = {1, 3};
  static const int64_t places[] = {0, 2, 1, -3}, rows[] = {-1, 0}, flat[] = {2, 3}, first[] = {0},
                       long_list[] = {6}, last[] = {2, 0};
  static const float update[] = {7, 8, 9};
  test_message some = {0}, known = {0}, batch = {0}, set = {0}, add = {0}, items = {0}, join = {0},
               of = {0}, sum = {0}, under = {0};
  test_put_raw(&some, "p", 7, 2, pair, places, sizeof places);
  put_small(&some, "f", 7, 2, flat, sizeof flat);
  put_small(&some, "l", 7, 1, long_list, sizeof long_list);
  test_put_node(&some, "GatherND", "take", "x,p", "y", NULL); /* x[0][2], x[1][0] */
  test_put_node(&some, "Reshape", "list", "x,l", "a", NULL);
  test_put_node(&some, "Gather", "same", "a,f", "z", NULL);
  check_same(&some);
  test_put_raw(&known, "p", 7, 2, pair, places, sizeof places);
  test_put_raw(&known, "r", 7, 2, column, rows, sizeof rows);
  test_put_node(&known, "GatherND", "take", "x,p", "y", NULL);
  test_put_node(&known, "GatherND", "rows", "x,r", "z", NULL);
  check_rounded(&known, "yz", 0, 0);
  /* of each item of a batch one: x[0][2], x[1][0] again */
  test_put_integer(&items, "batch_dims", 1);
  test_put_raw(&batch, "p", 7, 2, pair, places, sizeof places);
  test_put_raw(&batch, "r", 7, 2, column, last, sizeof last);
  test_put_node(&batch, "GatherND", "take", "x,r", "y", &items);
  test_put_node(&batch, "GatherND", "same", "x,p", "z", NULL);
  check_same(&batch);
  /* the second row is the update; and the first has it added */
  test_put_raw(&set, "r", 7, 2, one, rows, sizeof *rows);
  test_put_raw(&set, "u", 1, 2, row, update, sizeof update);
  test_put_raw(&set, "o", 7, 1, one, first, sizeof first);
  test_put_node(&set, "ScatterND", "put", "x,r,u", "y", NULL);
  test_put_node(&set, "Gather", "upper", "x,o", "a", NULL);
  test_put_integer(&join, "axis", 0);
  test_put_node(&set, "Concat", "both", "a,u", "z", &join);
  check_same(&set);
  test_put_raw(&add, "r", 7, 2, one, first, sizeof first);
  test_put_raw(&add, "u", 1, 2, row, update, sizeof update);
  test_put_raw(&add, "n", 1, 2, row, (const float[]){0, 0, 0}, sizeof update);
  test_put_text(&of, 1, "reduction");
  test_put_text(&of, 4, "add");
  test_put_number(&of, 20, 3);
  test_put_message(&sum, 5, &of);
  test_put_node(&add, "ScatterND", "put", "x,r,u", "y", &sum);
  test_put_integer(&under, "axis", 0);
  test_put_node(&add, "Concat", "below", "u,n", "b", &under);
  test_put_node(&add, "Add", "more", "x,b", "z", NULL);
  check_same(&add);
}

/* A value that is reached in 2^40 ways is refused at once. */
static void test_many_ways(void **state) {
  (void)state;
  static const float half = 0.25f;
  test_message graph = {0};
  heed_onnx *onnx;
  heed_onnx_result *result;
  put_small(&graph, "h", 1, 0, &half, sizeof half);
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

static void put_word(test_message *attributes, const char *name, const char *word) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  test_put_text(&attribute, 4, word);
  test_put_number(&attribute, 20, 3);
  test_put_message(attributes, 5, &attribute);
}

/* Sums of products by equations: of constants, of a value by itself, and an attention. */
static void test_einsum(void **state) {
  static const struct {
    const char *equation, *inputs;
  } cases[] = {{"ij->ji", "x"},
               {"ij", "x"},
               {"ij->i", "x"},
               {"ij->", "x"},
               {"ij,jk->ik", "x,w"},
               {"ij,jk->ki", "x,w"},
               {"ij,ij->ij", "x,x"},
               {"ij,kj->ik", "x,x"},
               {"ij,ij", "x,x"},
               {"ij,kl->lijk", "x,x"},
               {"i...,k...->...ki", "x,x"},
               {"...j,jk->...k", "x,w"},
               {"ij,kj->k", "x,x"},
               {"jk,ij->ik", "w,x"},
               {" i j , j k -> i k ", "x,w"}};
  static const uint32_t w[] = {3, 4};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, attributes = {0};
    test_put_floats(&graph, "w", 2, w);
    put_word(&attributes, "equation", cases[i].equation);
    test_put_node(&graph, "Einsum", "sum", cases[i].inputs, "y", &attributes);
    check_rounded(&graph, "y", 2e-5, 0);
  }
  /* as products, two of them around a softmax are an attention with a map */
  test_message graph = {0}, scores = {0}, sum = {0};
  put_word(&scores, "equation", "ij,kj->ik");
  put_word(&sum, "equation", "ik,kd->id");
  test_put_node(&graph, "Einsum", "scores", "x,x", "s", &scores);
  test_put_node(&graph, "Softmax", "weights", "s", "w", NULL);
  test_put_node(&graph, "Einsum", "sum", "w,x", "y", &sum);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  check_made(test_onnx_file(&graph), 2);
}

/* A computed image [2, 4, 5, 7] made larger along one axis and smaller along another. */
static void test_resize(void **state) {
  static const char *const modes[] = {"nearest", "linear", "cubic"}, *const places[] = {
                                                                         "half_pixel",
                                                                         "align_corners",
                                                                         "asymmetric",
                                                                         "pytorch_half_pixel"};
  static const uint32_t image[] = {2, 4, 5, 7};
  static const int64_t size[] = {2, 4, 11, 3};
  (void)state;
  for (size_t m = 0; m < 3; m++)
    for (size_t p = 0; p < 4; p++) {
      test_message graph = {0}, attributes = {0};
      test_put_floats(&graph, "i", 4, image);
      put_small(&graph, "size", 7, 4, size, sizeof size);
      test_put_node(&graph, "ReduceSum", "sum", "x", "t", NULL);
      test_put_node(&graph, "Sin", "sin", "t", "u", NULL);
      test_put_node(&graph, "Mul", "image", "i,u", "v", NULL);
      test_put_node(&graph, "Sin", "waves", "v", "image", NULL);
      put_word(&attributes, "mode", modes[m]);
      put_word(&attributes, "coordinate_transformation_mode", places[p]);
      if (p == 0) test_put_integer(&attributes, "antialias", m > 0);
      test_put_node(&graph, "Resize", "resize", "image,,,size", "y", &attributes);
      check_rounded(&graph, "y", 2e-5, 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_vit),
                                     cmocka_unit_test(test_same),
                                     cmocka_unit_test(test_made),
                                     cmocka_unit_test(test_refused),

                                     cmocka_unit_test(test_huge),
                                     cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_encoders),
                                     cmocka_unit_test(test_steps),
                                     cmocka_unit_test(test_rounded),
                                     cmocka_unit_test(test_blocks),
                                     cmocka_unit_test(test_whole),
                                     cmocka_unit_test(test_rows_read),
                                     cmocka_unit_test(test_convolutions),
                                     cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_truth),
                                     cmocka_unit_test(test_indices),
                                     cmocka_unit_test(test_activations),
                                     cmocka_unit_test(test_einsum),
                                     cmocka_unit_test(test_tuples),
                                     cmocka_unit_test(test_resize),
                                     cmocka_unit_test(test_many_ways),
                                     cmocka_unit_test(test_halves),
                                     cmocka_unit_test(test_attributes),
                                     cmocka_unit_test(test_bias_axes),
                                     cmocka_unit_test(test_weights_outside)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  if (heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK) return 1;
  const int failed = cmocka_run_group_tests_name("onnx_lower", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
