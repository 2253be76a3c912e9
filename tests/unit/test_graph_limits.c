/* Limits of tensors, graphs, threads and streams in docs/limits.md, each at its number and one
 * above. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "support/test_context.h"

static heed_graph *graph;

static void make_graph(void) { assert_ok(heed_graph_create(context, &graph, &error)); }

static heed_status status_of_graph(void) {
  const heed_status status = heed_graph_status(graph, &error);
  heed_graph_destroy(graph);
  return status;
}

static heed_value input(const char *name, heed_shape shape) {
  return heed_define_input(graph, name, HEED_F32, &shape);
}

static void test_axes(void **state) {
  (void)state;
  heed_shape shape = HEED_SHAPE(1, 2, 1, 2, 1, 2);
  assert_int_equal(HEED_MAX_RANK, 6);
  make_graph();
  input("x", shape);
  assert_ok(status_of_graph());
  shape.rank = 7;
  make_graph();
  input("x", shape);
  assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT, "x");
}

static void test_sides(void **state) {
  (void)state;
  make_graph();
  heed_define_input(graph, "largest", HEED_U8, &HEED_SHAPE(UINT32_MAX));
  assert_ok(status_of_graph());
  make_graph();
  input("empty", HEED_SHAPE(3, 0));
  assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT, "empty");
}

/* 2^63 bytes are no tensor, a column less is one; where addresses have 32 bits, of 2^32. */
static void test_bytes(void **state) {
  (void)state;
  const uint32_t rows = sizeof(size_t) > 4 ? 1u << 31 : 1u << 15,
                 columns = sizeof(size_t) > 4 ? 1u << 30 : 1u << 15;
  make_graph();
  input("x", HEED_SHAPE(rows, columns - 1));
  assert_ok(status_of_graph());
  make_graph();
  input("x", HEED_SHAPE(rows, columns));
  assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT, "x");
}

/* Values are F32, U8 or I32; a constant also has its elements. */
static void test_types(void **state) {
  static const float data[6] = {0};
  (void)state;
  for (int type = HEED_F32; type <= HEED_I8 + 1; type++) {
    const bool good = type == HEED_F32 || type == HEED_U8 || type == HEED_I32;
    const heed_constant_desc desc = {.struct_size = sizeof desc,
                                     .name = "c",
                                     .dtype = (heed_dtype)type,
                                     .shape = HEED_SHAPE(2, 3),
                                     .data = data};
    make_graph();
    heed_define_constant(graph, &desc);
    if (good)
      assert_ok(status_of_graph());
    else
      assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT, "c: invalid constant");
    make_graph();
    heed_define_input(graph, "x", (heed_dtype)type, &desc.shape);
    if (good)
      assert_ok(status_of_graph());
    else
      assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT, "x: invalid");
  }
  const heed_constant_desc none = {
      .struct_size = sizeof none, .name = "c", .shape = HEED_SHAPE(2, 3)};
  make_graph();
  heed_define_constant(graph, &none);
  assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT,
               "expected F32, U8 or I32, and data or read");
}

static void test_concat(void **state) {
  (void)state;
  for (uint32_t count = 1; count <= 5; count++) {
    heed_concat_desc desc = {.struct_size = sizeof desc, .count = count, .axis = 0};
    make_graph();
    for (uint32_t i = 0; i < HEED_CONCAT_MAX; i++) {
      char name[8];
      snprintf(name, sizeof name, "x%u", i);
      desc.x[i] = input(name, HEED_SHAPE(2, 3));
    }
    heed_define_concat(graph, &desc);
    if (count >= 2 && count <= 4)
      assert_ok(status_of_graph());
    else
      assert_fails(status_of_graph(), HEED_INVALID_ARGUMENT, "concat");
  }
}

static void test_threads(void **state) {
  (void)state;
  for (uint32_t above = 0; above < 2; above++) {
    const heed_cpu_desc desc = {.struct_size = sizeof desc, .threads = 256 + above};
    heed_backend *backend;
    assert_ok(heed_cpu_backend_create(context, &desc, &backend, &error));
    if (!strstr(heed_backend_device(backend), "256 threads"))
      fail_msg("found %s, expected 256 threads", heed_backend_device(backend));
    heed_backend_destroy(backend);
  }
}

static void test_runs_in_flight(void **state) {
  (void)state;
  heed_backend *backend;
  heed_plan *plan;
  heed_session *session;
  heed_stream *stream;
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  make_graph();
  const heed_value x = input("x", HEED_SHAPE(2, 3));
  const heed_activation_desc relu = {sizeof relu, x, HEED_ACTIVATION_RELU, HEED_ACTIVATION_VALUE};
  const heed_value y = heed_define_activation(graph, &relu);
  heed_graph_output(graph, y);
  assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  heed_stream_desc desc = {sizeof desc, 8, &x, 1, &y, 1};
  assert_ok(heed_stream_create(session, &desc, &stream, &error));
  heed_stream_destroy(stream);
  desc.in_flight = 9;
  assert_fails(heed_stream_create(session, &desc, &stream, &error), HEED_INVALID_ARGUMENT,
               "too many runs in flight (found 9, expected at most 8)");
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_axes),           cmocka_unit_test(test_sides),
      cmocka_unit_test(test_bytes),          cmocka_unit_test(test_concat),
      cmocka_unit_test(test_types),          cmocka_unit_test(test_threads),
      cmocka_unit_test(test_runs_in_flight),
  };
  return cmocka_run_group_tests_name("graph_limits", tests, make_context, drop_context);
}
