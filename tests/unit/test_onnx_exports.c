/* Files of exporters on heed's kernels: beside the same graph in double, the eager model that was
 * exported, what onnxruntime made of it, and heed's own graph for its weights. */
#include <stdio.h>
#include <string.h>

#include "onnx/lower/lower.h"
#include "support/onnx_pair.h"

static heed_onnx *open_file(const char *name, unsigned char **bytes) {
  size_t size;
  heed_onnx *onnx;
  *bytes = test_read_vector(name, &size);
  const heed_onnx_desc desc = {sizeof desc, {size, *bytes, NULL, NULL}, name, NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  return onnx;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vit),  cmocka_unit_test(test_halves), cmocka_unit_test(test_encoders),
      cmocka_unit_test(test_same), cmocka_unit_test(test_steps),  cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
