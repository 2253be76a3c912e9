/* Graphs of which some nodes have no kernel: those alone run in double, and all outputs and maps
 * are those of a run in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "support/onnx_file.h"
#include "support/test_context.h"

#define TOKENS 5u
#define WIDTH 4u
#define COUNT (TOKENS * WIDTH)

/* "Op inputs outputs [to];...". */
static void put_nodes(test_message *graph, const char *nodes) {
  for (const char *at = nodes; *at;) {
    char op[24], from[40], to[24];
    int64_t number = -1;
    int next = 0;
    test_message attributes = {0};
    assert_true(sscanf(at, "%23s %39s %23[^ ;]%n", op, from, to, &next) == 3);
    at += next;
    if (*at == ' ') number = strtol(at, (char **)&at, 10);
    at += *at == ';';
    if (number >= 0) test_put_integer(&attributes, "to", number);
    test_put_node(graph, op, op, from, to, &attributes);
  }
}

/* Scores of t by itself, weights a, and what they give, o. */
static void put_attention(test_message *graph, const char *t, const char *a, const char *o) {
  static const int64_t order[] = {0, 2, 1};
  char turned[24], scores[24], both[48];
  test_message perm = {0};
  snprintf(turned, sizeof turned, "%st", a);
  snprintf(scores, sizeof scores, "%ss", a);
  test_put_integers(&perm, "perm", 3, order);
  test_put_node(graph, "Transpose", "turn", t, turned, &perm);
  snprintf(both, sizeof both, "%s,%s", t, turned);
  test_put_node(graph, "MatMul", "scores", both, scores, NULL);
  test_put_node(graph, "Softmax", a, scores, a, NULL);
  snprintf(both, sizeof both, "%s,%s", a, t);
  test_put_node(graph, "MatMul", "weigh", both, o, NULL);
}

static heed_onnx *open_graph(test_message *graph, test_message *file) {
  heed_onnx *onnx;
  *file = test_onnx_file(graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  return onnx;
}

/* Two attentions with nodes without kernels before, between and behind them, one of them of whole
 * numbers; outputs of several parts, one of them the input of others. */
static heed_onnx *open_mixed(test_message *file) {
  static const uint32_t dims[] = {1, TOKENS, WIDTH}, square[] = {WIDTH, WIDTH};
  test_message graph = {0};
  test_put_floats(&graph, "w", 2, square);
  put_nodes(&graph, "Tanh x h;Sinh h n;MatMul n,w m;Tanh m t;");
  put_attention(&graph, "t", "a", "o");
  put_nodes(&graph, "Add o,x r;Atan r c;Cast c i 7;BitwiseNot i j;Cast j f 1;Add f,r z;Tanh z v;");
  put_attention(&graph, "v", "b", "u");
  put_nodes(&graph, "Add u,h p;Cosh p y;");
  test_put_shaped(&graph, 11, "x", 3, dims);
  test_put_shaped(&graph, 12, "y", 3, dims);
  test_put_shaped(&graph, 12, "r", 3, dims);
  test_put_typed(&graph, 12, "j", 7, 3, dims);
  return open_graph(&graph, file);
}

static size_t make_input(unsigned char bytes[512]) {
  static const char header[] =
      "{\"x\":{\"dtype\":\"F32\",\"shape\":[1,5,4],\"data_offsets\":[0,80]}}";
  memset(bytes, 0, 8);
  bytes[0] = (unsigned char)(sizeof header - 1);
  memcpy(bytes + 8, header, sizeof header - 1);
  for (uint32_t i = 0; i < COUNT; i++) {
    const float value = (float)(i * 7 % 11) / 11 - 0.4f;
    memcpy(bytes + 8 + sizeof header - 1 + 4 * i, &value, 4);
  }
  return 8 + sizeof header - 1 + 4 * COUNT;
}

static double ticks(void *user) {
  double *time = user;
  return *time += 1000;
}

static void expect_same(const heed_safetensors *found, const heed_safetensors *want,
                        const char *name) {
  const heed_safetensors_tensor *x = heed_safetensors_find(found, name),
                                *y = heed_safetensors_find(want, name);
  float a[64], b[64];
  assert_non_null(x);
  assert_non_null(y);
  assert_string_equal(x->dtype_name, y->dtype_name);
  assert_true(heed_shape_equal(&x->shape, &y->shape));
  if (strcmp(x->dtype_name, "F32") != 0) return;
  assert_ok(heed_safetensors_read(found, x, 0, x->count, a, &error));
  assert_ok(heed_safetensors_read(want, y, 0, y->count, b, &error));
  for (uint64_t i = 0; i < x->count; i++)
    if (!(fabsf(a[i] - b[i]) <= 2e-5f))
      fail_msg("%s %u: found %g, expected %g", name, (unsigned)i, (double)a[i], (double)b[i]);
}

static void test_mixed(void **state) {
  static const char *const names[] = {"y", "r", "j", "attention.0", "attention.1"};
  unsigned char input[512];
  test_message file;
  heed_onnx *onnx = open_mixed(&file);
  heed_backend *cpu;
  heed_onnx_result *found, *want;
  heed_safetensors *files[2];
  double time = 0;
  const heed_clock clock = {ticks, &time};
  (void)state;
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                  .inputs = {make_input(input), input, NULL, NULL},
                                  .attentions = true,
                                  .backend = cpu};
  assert_int_equal(heed_onnx_evaluate(onnx, &desc, &found, &error), HEED_UNSUPPORTED);
  assert_non_null(strstr(error.message, "op has no kernel (found Sinh of opset 17)"));
  desc.parts = true;
  desc.clock = &clock;
  assert_ok(heed_onnx_evaluate(onnx, &desc, &found, &error));
  assert_ok(heed_onnx_reference(onnx, &desc, &want, &error));
  const char *said = heed_onnx_result_parts(found);
  assert_string_equal(said,
                      "4 of 21 nodes in double (Sinh, Atan, BitwiseNot, Cosh), 4.0 of 9.0 ms");
  assert_string_equal(heed_onnx_result_parts(want), "");
  for (int i = 0; i < 2; i++) {
    const heed_source source = heed_onnx_result_source(i ? want : found);
    assert_ok(heed_safetensors_open(context, &source, "result", &files[i], &error));
  }
  assert_int_equal(heed_safetensors_count(files[0]), 5);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    expect_same(files[0], files[1], names[i]);
  for (int i = 0; i < 2; i++) heed_safetensors_destroy(files[i]);
  heed_onnx_result_destroy(found);
  heed_onnx_result_destroy(want);
  heed_backend_destroy(cpu);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* An op that heed has not at all: the sentence of the first node without a kernel. */
static void test_unknown(void **state) {
  static const uint32_t dims[] = {1, TOKENS, WIDTH};
  unsigned char input[512];
  test_message graph = {0}, file;
  heed_backend *cpu;
  heed_onnx_result *result;
  (void)state;
  put_nodes(&graph, "Sinh x h;Unheard h n;Tanh n y;");
  test_put_shaped(&graph, 11, "x", 3, dims);
  test_put_shaped(&graph, 12, "y", 3, dims);
  heed_onnx *onnx = open_graph(&graph, &file);
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {make_input(input), input, NULL, NULL},
                                        .backend = cpu,
                                        .parts = true};
  assert_int_equal(heed_onnx_evaluate(onnx, &desc, &result, &error), HEED_UNSUPPORTED);
  assert_non_null(strstr(error.message, "op has no kernel (found Sinh of opset 17)"));
  heed_backend_destroy(cpu);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* ----------------------------------------------------------------- as nodes of a lowered graph */

typedef struct lowered {
  heed_onnx_lowered *graph;
  heed_plan *plan;
  heed_session *session;
} lowered;

/* All outputs and maps can be read. */
static heed_status open_session(heed_onnx *onnx, heed_backend *cpu, lowered *to) {
  const heed_onnx_lower_desc desc = {.struct_size = sizeof desc, .parts = true};
  heed_value taps[4];
  heed_plan_desc plan = {.struct_size = sizeof plan, .taps = taps};
  *to = (lowered){NULL, NULL, NULL};
  heed_status status = heed_onnx_lower(onnx, &desc, &to->graph, &error);
  if (status != HEED_OK) return status;
  for (uint32_t i = 0; heed_onnx_attention_name(onnx, i); i++)
    taps[plan.tap_count++] = heed_onnx_lowered_weights(to->graph, i);
  status = heed_plan_create(heed_onnx_lowered_graph(to->graph), cpu, &plan, &to->plan, &error);
  if (status == HEED_OK) status = heed_session_create(to->plan, NULL, &to->session, &error);
  return status;
}

static void close_session(lowered *from) {
  heed_session_destroy(from->session);
  heed_plan_destroy(from->plan);
  heed_onnx_lowered_destroy(from->graph);
}

static heed_status run_session(lowered *on, const void *pixels, size_t bytes) {
  const heed_value x = heed_graph_find(heed_onnx_lowered_graph(on->graph), "x");
  const heed_status status = heed_session_write(on->session, x, pixels, bytes, &error);
  return status == HEED_OK ? heed_session_run(on->session, NULL, &error) : status;
}

/* A value is the result of this name, or `of` of each of its elements. */
static void expect_read(lowered *on, heed_value value, const heed_safetensors *want,
                        const char *name, float (*of)(float x)) {
  const heed_safetensors_tensor *tensor = heed_safetensors_find(want, name);
  float found[64], expected[64];
  assert_true(value.id && tensor && tensor->count <= 64);
  assert_ok(heed_session_read(on->session, value, 0, tensor->count, found, &error));
  assert_ok(heed_safetensors_read(want, tensor, 0, tensor->count, expected, &error));
  for (uint64_t i = 0; i < tensor->count; i++) {
    const float right = of ? of(expected[i]) : expected[i];
    if (!(fabsf(found[i] - right) <= 2e-5f))
      fail_msg("%s %u: found %g, expected %g", name, (unsigned)i, (double)found[i], (double)right);
  }
}

/* The output j of r. */
static float turned(float r) { return (float)~(int)atanf(r); }

static void test_hosts(void **state) {
  static const char *const outputs[] = {"y", "r", "r"};
  unsigned char input[512];
  const size_t size = make_input(input);
  test_message file;
  heed_onnx *onnx = open_mixed(&file);
  heed_backend *cpu;
  heed_onnx_result *result;
  heed_safetensors *want;
  lowered on;
  char text[200];
  (void)state;
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc, .inputs = {size, input, NULL, NULL}, .attentions = true};
  assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  assert_ok(heed_safetensors_open(context, &source, "result", &want, &error));
  assert_ok(open_session(onnx, cpu, &on));
  heed_onnx_lowered_in_double(on.graph, text, sizeof text);
  assert_string_equal(text, "4 of 21 nodes in double (Sinh, Atan, BitwiseNot, Cosh)");
  for (int run = 0; run < 2; run++) {
    assert_ok(run_session(&on, input + size - 4 * COUNT, 4 * COUNT));
    for (uint32_t i = 0; i < 3; i++) {
      heed_value value;
      assert_ok(heed_onnx_lowered_output(on.graph, i, &value, &error));
      expect_read(&on, value, want, outputs[i], i == 2 ? turned : NULL);
    }
    expect_read(&on, heed_onnx_lowered_weights(on.graph, 0), want, "attention.0", NULL);
    expect_read(&on, heed_onnx_lowered_weights(on.graph, 1), want, "attention.1", NULL);
  }
  close_session(&on);
  heed_safetensors_destroy(want);
  heed_onnx_result_destroy(result);
  heed_backend_destroy(cpu);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* A node without a kernel in the branch that an If takes; the other branch has an unknown op. */
static void test_branch(void **state) {
  static const uint32_t dims[] = {1, TOKENS, WIDTH}, one = 1;
  static const float x[COUNT] = {0.5f, -2, 1};
  static const unsigned char yes = 1;
  test_message graph = {0}, branches[2] = {{0}, {0}}, of = {0}, file;
  heed_backend *cpu;
  heed_value value;
  lowered on;
  float found[COUNT];
  char text[200];
  (void)state;
  put_nodes(&branches[0], "Sinh x s;");
  put_nodes(&branches[1], "Unheard x u;");
  for (int b = 0; b < 2; b++) {
    test_put_value(&branches[b], 12, b ? "u" : "s");
    test_put_graph(&of, b ? "else_branch" : "then_branch", &branches[b]);
  }
  test_put_raw(&graph, "yes", 9, 1, &one, &yes, 1);
  test_put_node(&graph, "If", "branch", "yes", "h", &of);
  put_nodes(&graph, "Neg h y;");
  test_put_shaped(&graph, 11, "x", 3, dims);
  test_put_shaped(&graph, 12, "y", 3, dims);
  heed_onnx *onnx = open_graph(&graph, &file);
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  assert_ok(open_session(onnx, cpu, &on));
  heed_onnx_lowered_in_double(on.graph, text, sizeof text);
  assert_non_null(strstr(text, "nodes in double (Sinh)"));
  assert_ok(run_session(&on, x, sizeof x));
  assert_ok(heed_onnx_lowered_output(on.graph, 0, &value, &error));
  assert_ok(heed_session_read(on.session, value, 0, COUNT, found, &error));
  for (uint32_t i = 0; i < COUNT; i++) assert_true(fabsf(found[i] + sinhf(x[i])) <= 1e-6f);
  close_session(&on);
  heed_backend_destroy(cpu);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* Two results of one node, of which one is of whole numbers that pick rows. */
static void test_top(void **state) {
  static const uint32_t dims[] = {1, TOKENS, WIDTH};
  static const int64_t two = 2;
  static const float x[COUNT] = {5, 1, 9, 3, 2, 8, 4, 7, 0, 0, 1, 1, 6, 5, 6, 5, -3, -1, -2, -9};
  static const float want[2 * TOKENS] = {9, 5, 8, 7, 1, 1, 6, 6, -1, -2},
                              places[2 * TOKENS] = {2, 0, 1, 3, 2, 3, 0, 2, 1, 2};
  test_message graph = {0}, last = {0}, file;
  heed_backend *cpu;
  heed_value value;
  lowered on;
  float found[2 * TOKENS];
  (void)state;
  test_put_integer(&last, "axis", 2);
  test_put_small(&graph, "k", 7, 1, &two, sizeof two);
  test_put_node(&graph, "TopK", "top", "x,k", "v,i", NULL);
  test_put_node(&graph, "GatherElements", "pick", "x,i", "g", &last);
  test_put_shaped(&graph, 11, "x", 3, dims);
  for (int i = 0; i < 3; i++)
    test_put_typed(&graph, 12, (const char *[]){"v", "i", "g"}[i], i == 1 ? 7 : 1, 3,
                   (const uint32_t[]){1, TOKENS, 2});
  heed_onnx *onnx = open_graph(&graph, &file);
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  assert_ok(open_session(onnx, cpu, &on));
  assert_ok(run_session(&on, x, sizeof x));
  for (uint32_t i = 0; i < 3; i++) {
    assert_ok(heed_onnx_lowered_output(on.graph, i, &value, &error));
    assert_ok(heed_session_read(on.session, value, 0, 2 * TOKENS, found, &error));
    assert_memory_equal(found, i == 1 ? places : want, sizeof found);
  }
  close_session(&on);
  heed_backend_destroy(cpu);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static heed_status open_nodes(const char *nodes, heed_backend *cpu, uint32_t type, heed_onnx **onnx,
                              test_message *file, lowered *on) {
  static const uint32_t dims[] = {1, TOKENS, WIDTH};
  test_message graph = {0};
  put_nodes(&graph, nodes);
  test_put_shaped(&graph, 11, "x", 3, dims);
  test_put_typed(&graph, 12, "y", type, type == 7 ? 2 : 3, dims);
  *onnx = open_graph(&graph, file);
  return open_session(*onnx, cpu, on);
}

/* What floats do not hold ends the run; shapes that depend on numbers are refused beforehand. */
static void test_beyond(void **state) {
  static const float small[COUNT] = {0.5f}, large[COUNT] = {3e7f};
  heed_backend *cpu;
  heed_onnx *onnx;
  test_message file;
  lowered on;
  (void)state;
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  assert_ok(open_nodes("Cast x i 7;BitwiseNot i j;Cast j y 1;", cpu, 1, &onnx, &file, &on));
  assert_ok(run_session(&on, small, sizeof small));
  assert_fails(run_session(&on, large, sizeof large), HEED_UNSUPPORTED,
               "(BitwiseNot BitwiseNot): a whole number that no float holds (found -30000001");
  close_session(&on);
  heed_onnx_destroy(onnx);
  free(file.data);
  assert_fails(open_nodes("NonZero x y;", cpu, 7, &onnx, &file, &on), HEED_UNSUPPORTED,
               "op has no kernel (found NonZero of opset 17)");
  close_session(&on);
  heed_onnx_destroy(onnx);
  free(file.data);
  heed_backend_destroy(cpu);
}

/* The same failures of memory as below, of a session and its run. */
static void test_host_memory(void **state) {
  unsigned char input[512];
  const size_t size = make_input(input);
  (void)state;
  for (size_t fail_at = 1;; fail_at++) {
    test_allocator allocator = {0};
    const heed_context_desc counting = test_context_desc(&allocator);
    const heed_cpu_desc one = {sizeof one, 1, NULL};
    heed_context *own, *outer = context;
    heed_backend *cpu;
    test_message file;
    lowered on;
    assert_ok(heed_context_create(&counting, &own, &error));
    context = own;
    heed_onnx *onnx = open_mixed(&file);
    context = outer;
    assert_ok(heed_cpu_backend_create(own, &one, &cpu, &error));
    allocator.fail_at = allocator.total + fail_at;
    heed_status status = open_session(onnx, cpu, &on);
    if (status == HEED_OK) status = run_session(&on, input + size - 4 * COUNT, 4 * COUNT);
    close_session(&on);
    heed_backend_destroy(cpu);
    heed_onnx_destroy(onnx);
    heed_context_destroy(own);
    free(file.data);
    assert_int_equal(allocator.live, 0);
    if (status == HEED_OK) break;
    assert_int_equal(status, HEED_OUT_OF_MEMORY);
  }
}

/* Each allocation fails once: nothing stays. */
static void test_memory(void **state) {
  unsigned char input[512];
  const size_t size = make_input(input);
  (void)state;
  for (size_t fail_at = 1;; fail_at++) {
    test_allocator allocator = {0};
    const heed_context_desc counting = test_context_desc(&allocator);
    const heed_cpu_desc one = {sizeof one, 1, NULL};
    heed_context *own, *outer = context;
    heed_onnx_result *result = NULL;
    heed_backend *cpu;
    test_message file;
    assert_ok(heed_context_create(&counting, &own, &error));
    context = own;
    heed_onnx *onnx = open_mixed(&file);
    context = outer;
    assert_ok(heed_cpu_backend_create(own, &one, &cpu, &error));
    const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                          .inputs = {size, input, NULL, NULL},
                                          .attentions = true,
                                          .backend = cpu,
                                          .parts = true};
    allocator.fail_at = allocator.total + fail_at;
    const heed_status status = heed_onnx_evaluate(onnx, &desc, &result, &error);
    if (status == HEED_OK) heed_onnx_result_destroy(result);
    heed_onnx_destroy(onnx);
    heed_backend_destroy(cpu);
    heed_context_destroy(own);
    free(file.data);
    assert_int_equal(allocator.live, 0);
    if (status == HEED_OK) break;
    assert_int_equal(status, HEED_OUT_OF_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mixed),       cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_hosts),       cmocka_unit_test(test_top),
      cmocka_unit_test(test_branch),      cmocka_unit_test(test_beyond),
      cmocka_unit_test(test_host_memory), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
