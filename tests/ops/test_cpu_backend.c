/* The CPU backend as a whole: levels, predicted memory, failing allocations, hooks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "support/op_test.h"

enum { TOKENS = 33, WIDTH = 24, HEADS = 3 };

static float numbers[3 * WIDTH * WIDTH + TOKENS * WIDTH];

/* linear -> attention -> add -> layer_norm -> softmax over two stages: constants of both layouts,
 * and scratch of every sort. */
static heed_graph *make_graph(heed_context *context, heed_error *error) {
  heed_graph *graph = NULL;
  if (heed_graph_create(context, &graph, error) != HEED_OK) return NULL;
  const heed_shape x_shape = HEED_SHAPE(1, TOKENS, WIDTH),
                   head = HEED_SHAPE(1, HEADS, TOKENS, WIDTH / HEADS);
  const heed_constant_desc weight = {
      sizeof weight, "weight", HEED_F32, HEED_SHAPE(3 * WIDTH, WIDTH), numbers, NULL, NULL};
  const heed_constant_desc row = {sizeof row, "row", HEED_F32, HEED_SHAPE(WIDTH),
                                  numbers,    NULL,  NULL};
  const heed_value x = heed_define_input(graph, "x", HEED_F32, &x_shape);
  const heed_value gain = heed_define_constant(graph, &row);
  heed_linear_desc qkv = {.struct_size = sizeof qkv,
                          .x = x,
                          .weight = heed_define_constant(graph, &weight),
                          .heads = HEADS,
                          .parts = 3};
  const heed_value stacked = heed_define_linear(graph, &qkv);
  heed_graph_stage(graph, 1);
  heed_attention_desc attention = {.struct_size = sizeof attention, .merge_heads = true};
  attention.query = heed_define_view(graph, stacked, 0, &head);
  attention.key = heed_define_view(graph, stacked, TOKENS * WIDTH, &head);
  attention.value = heed_define_view(graph, stacked, 2 * TOKENS * WIDTH, &head);
  const heed_attention_values values = heed_define_attention(graph, &attention);
  const heed_value sum =
      heed_define_add(graph, &(heed_add_desc){sizeof(heed_add_desc), values.output, gain});
  heed_graph_stage(graph, 2);
  const heed_layer_norm_desc norm = {sizeof norm, sum, gain, gain, 1e-5f};
  heed_graph_output(graph, heed_define_softmax(
                               graph, &(heed_softmax_desc){sizeof(heed_softmax_desc),
                                                           heed_define_layer_norm(graph, &norm)}));
  return graph;
}

static heed_status run_all(heed_context *context, const char *level, uint32_t threads,
                           const heed_hooks *hooks, heed_error *error) {
  heed_backend *backend = NULL;
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  const heed_cpu_desc desc = {sizeof desc, threads, level};
  heed_status status = heed_cpu_backend_create(context, &desc, &backend, error);
  heed_graph *graph = status == HEED_OK ? make_graph(context, error) : NULL;
  if (status == HEED_OK && !graph) status = error->status;
  if (status == HEED_OK) status = heed_plan_create(graph, backend, NULL, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, hooks, &session, error);
  if (status == HEED_OK)
    status = heed_session_write(session, heed_graph_find(graph, "x"), numbers,
                                TOKENS * WIDTH * sizeof(float), error);
  if (status == HEED_OK) status = heed_session_run(session, hooks, error);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
  return status;
}

static void test_levels(void **state) {
  (void)state;
  heed_error error;
  heed_backend *backend = NULL;
  uint32_t count = 0;
  bool scalar = false;
  for (; heed_cpu_level(count); count++) {
    const heed_cpu_desc desc = {sizeof desc, 2, heed_cpu_level(count)};
    assert_ok(heed_cpu_backend_create(test_backend_context(), &desc, &backend, &error));
    assert_string_equal(heed_backend_name(backend), "cpu");
    assert_non_null(strstr(heed_backend_device(backend), ", 2 threads"));
    scalar = scalar || strcmp(heed_cpu_level(count), "scalar") == 0;
    heed_backend_destroy(backend);
  }
  assert_true(scalar && count >= 1);
  assert_null(heed_cpu_level(count));
  assert_null(heed_cpu_level(1000));
  const heed_cpu_desc unknown = {sizeof unknown, 1, "mmx"};
  assert_fails(heed_cpu_backend_create(test_backend_context(), &unknown, &backend, &error),
               HEED_UNSUPPORTED, "scalar");
  assert_null(backend);
  const heed_cpu_desc sizeless = {0, 1, NULL};
  assert_fails(heed_cpu_backend_create(test_backend_context(), &sizeless, &backend, &error),
               HEED_INVALID_ARGUMENT, "struct_size");
}

/* An allocator that adds up what is asked for while `on`. */
typedef struct tally {
  bool on;
  uint64_t bytes, calls;
} tally;

static void *tally_alloc(size_t size, size_t alignment, void *user) {
  tally *t = user;
  if (t->on) {
    t->bytes += size;
    t->calls++;
  }
  return heed_system_alloc(size, alignment);
}

static void tally_free(void *pointer, void *user) {
  (void)user;
  heed_system_free(pointer);
}

/* What the plan says is what the session takes, but for its bookkeeping of a few KB; a run takes
 * nothing. */
static void test_memory_is_as_planned(void **state) {
  (void)state;
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    tally t = {false, 0, 0};
    heed_error error;
    heed_context *context;
    heed_backend *backend;
    heed_plan *plan;
    heed_session *session;
    heed_memory memory;
    heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
    desc.allocator = (heed_allocator){tally_alloc, tally_free, &t};
    assert_ok(heed_context_create(&desc, &context, &error));
    const heed_cpu_desc cpu = {sizeof cpu, 3, heed_cpu_level(l)};
    assert_ok(heed_cpu_backend_create(context, &cpu, &backend, &error));
    heed_graph *graph = make_graph(context, &error);
    assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
    heed_plan_memory(plan, &memory);
    t.on = true;
    assert_ok(heed_session_create(plan, NULL, &session, &error));
    const uint64_t planned = memory.weights + memory.arena + memory.workspace;
    if (t.bytes < planned || t.bytes > planned + 4096)
      fail_msg("level %s: planned %llu bytes, took %llu", heed_cpu_level(l),
               (unsigned long long)planned, (unsigned long long)t.bytes);
    t.calls = 0;
    assert_ok(heed_session_run(session, NULL, &error));
    assert_int_equal(t.calls, 0);
    heed_session_destroy(session);
    heed_plan_destroy(plan);
    heed_graph_destroy(graph);
    heed_backend_destroy(backend);
    heed_context_destroy(context);
  }
}

static void test_every_allocation_failed_once(void **state) {
  (void)state;
  heed_status status = HEED_OUT_OF_MEMORY;
  size_t n = 0;
  while (status != HEED_OK) {
    test_allocator allocator = {0, 0, 0};
    heed_context_desc desc = test_context_desc(&allocator);
    heed_context *context;
    heed_error error = {HEED_OK, ""};
    assert_ok(heed_context_create(&desc, &context, &error));
    allocator.fail_at = allocator.total + ++n;
    status = run_all(context, NULL, 2, NULL, &error);
    if (status != HEED_OK) assert_int_equal(status, HEED_OUT_OF_MEMORY);
    heed_context_destroy(context);
    assert_int_equal(allocator.live, 0);
    assert_true(n < 1000);
  }
  assert_true(n > 10);
}

typedef struct progress {
  uint32_t reads, runs, cancel_after, asked;
  uint64_t last_read, total_read, last_run;
} progress;

static void tell(const char *phase, uint64_t done, uint64_t total, void *user) {
  progress *p = user;
  if (strcmp(phase, "read") == 0) {
    p->reads++;
    assert_true(done > p->last_read && done <= total);
    p->last_read = done;
    p->total_read = total;
  } else {
    assert_string_equal(phase, "run");
    p->runs++;
    p->last_run = done;
    assert_int_equal(total, 3);
  }
}

static bool cancel(void *user) {
  progress *p = user;
  return p->cancel_after && ++p->asked == p->cancel_after;
}

static void test_progress_and_cancel(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  progress p = {0};
  heed_hooks hooks = {sizeof hooks, tell, cancel, &p};
  assert_ok(run_all(test_backend_context(), NULL, 2, &hooks, &error));
  assert_int_equal(p.reads, 2);
  assert_int_equal(p.last_read, p.total_read);
  assert_int_equal(p.runs, 3);
  assert_int_equal(p.last_run, 3);
  uint32_t n = 0;
  heed_status status;
  do {
    p = (progress){.cancel_after = ++n};
    status = run_all(test_backend_context(), NULL, 2, &hooks, &error);
    assert_true(status == HEED_OK || status == HEED_CANCELLED);
  } while (status != HEED_OK && n < 100);
  /* two tensors and three stages can be cancelled; the sixth is never asked */
  assert_int_equal(n, 6);
}

static int fill_numbers(void **state) {
  (void)state;
  test_random random = {4};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    numbers[i] = test_random_normal(&random);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_levels),
      cmocka_unit_test(test_memory_is_as_planned),
      cmocka_unit_test(test_every_allocation_failed_once),
      cmocka_unit_test(test_progress_and_cancel),
  };
  return cmocka_run_group_tests_name("cpu backend", tests, fill_numbers, test_backend_close_all);
}
