/* attention: what it takes. Long inputs fit small memory when nobody wants their maps, by the plan
 * and by what an allocator saw; a run takes nothing; every allocation may fail. */
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "support/op_test.h"

#define TOKENS 16384u
#define DEPTH 64u
#define LIMIT (64u << 20) /* beyond the inputs */

/* softmax(q k^T) v over TOKENS tokens, one head. */
static heed_graph *make_long(heed_context *context, heed_attention_values *values) {
  heed_error error;
  heed_graph *graph;
  const heed_shape shape = HEED_SHAPE(1, 1, TOKENS, DEPTH);
  assert_ok(heed_graph_create(context, &graph, &error));
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_input(graph, "query", HEED_F32, &shape),
                                    .key = heed_define_input(graph, "key", HEED_F32, &shape),
                                    .value = heed_define_input(graph, "value", HEED_F32, &shape)};
  *values = heed_define_attention(graph, &desc);
  heed_graph_output(graph, values->output);
  return graph;
}

#define INPUTS (3u * TOKENS * DEPTH * 4u)

static void test_long_plans_are_small(void **state) {
  (void)state;
  heed_error error;
  heed_attention_values values;
  heed_graph *graph = make_long(test_backend_context(), &values);
  for (uint32_t b = 0; b < test_backend_count(); b++) {
    heed_plan *plan;
    heed_plan_step step;
    heed_memory memory;
    assert_ok(heed_plan_create(graph, test_backend_get(b), NULL, &plan, &error));
    heed_plan_memory(plan, &memory);
    const uint64_t beyond = memory.weights + memory.arena + memory.workspace - INPUTS;
    if (beyond >= LIMIT)
      fail_msg("%s: %llu bytes beyond the inputs, expected less than %u", test_backend_name(b),
               (unsigned long long)beyond, LIMIT);
    heed_plan_step_info(plan, 0, &step);
    assert_int_equal(step.map_bytes, (uint64_t)TOKENS * TOKENS * 4);
    heed_plan_destroy(plan);
    /* With its map it could not be. */
    const heed_plan_desc with = {sizeof with, &values.weights, 1, HEED_ATTENTION_MODE_AUTO};
    /* a device may not hold such a tensor */
    if (heed_plan_create(graph, test_backend_get(b), &with, &plan, &error) != HEED_OK) continue;
    heed_plan_memory(plan, &memory);
    assert_true(memory.arena > step.map_bytes);
    heed_plan_destroy(plan);
  }
  heed_graph_destroy(graph);
}

/* An allocator that knows how much is held, and how much at most. */
typedef struct tally {
  uint64_t held, most, calls;
} tally;

#define HEAD 256u /* before each block: its size; as large as the largest alignment */

static void *tally_alloc(size_t size, size_t alignment, void *user) {
  tally *t = user;
  unsigned char *block = heed_system_alloc(size + HEAD, HEAD);
  if (!block) return NULL;
  assert_true(alignment <= HEAD);
  memcpy(block, &size, sizeof size);
  t->calls++;
  t->held += size;
  if (t->held > t->most) t->most = t->held;
  return block + HEAD;
}

static void tally_free(void *pointer, void *user) {
  tally *t = user;
  unsigned char *block = (unsigned char *)pointer - HEAD;
  size_t size;
  memcpy(&size, block, sizeof size);
  t->held -= size;
  heed_system_free(block);
}

/* Sessions of the CPU, made and run by an allocator that counts; a window keeps the run short and
 * needs the same memory. */
static void test_long_sessions_are_small(void **state) {
  (void)state;
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    tally t = {0, 0, 0};
    heed_error error;
    heed_context *context;
    heed_backend *backend;
    heed_plan *plan;
    heed_session *session;
    heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
    desc.allocator = (heed_allocator){tally_alloc, tally_free, &t};
    assert_ok(heed_context_create(&desc, &context, &error));
    const heed_cpu_desc cpu = {sizeof cpu, 2, heed_cpu_level(l)};
    assert_ok(heed_cpu_backend_create(context, &cpu, &backend, &error));
    heed_graph *graph;
    const heed_shape shape = HEED_SHAPE(1, 1, TOKENS, DEPTH);
    assert_ok(heed_graph_create(context, &graph, &error));
    const heed_value x = heed_define_input(graph, "x", HEED_F32, &shape);
    const heed_attention_desc attention = {.struct_size = sizeof attention,
                                           .query = x,
                                           .key = x,
                                           .value = x,
                                           .window = true,
                                           .window_left = 8,
                                           .window_right = 8};
    heed_graph_output(graph, heed_define_attention(graph, &attention).output);
    assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
    assert_ok(heed_session_create(plan, NULL, &session, &error));
    const uint64_t calls = t.calls;
    assert_ok(heed_session_run(session, NULL, &error));
    assert_int_equal(t.calls, calls);
    if (t.most >= LIMIT)
      fail_msg("level %s: held %llu bytes, expected less than %u", heed_cpu_level(l),
               (unsigned long long)t.most, LIMIT);
    heed_session_destroy(session);
    heed_plan_destroy(plan);
    heed_graph_destroy(graph);
    heed_backend_destroy(backend);
    heed_context_destroy(context);
    assert_int_equal(t.held, 0);
  }
}

/* An attention with all that allocates: maps of the additive score, a list of rows, tapped
 * weights. */
static heed_status run_all(heed_context *context, heed_attention_mode mode, heed_error *error) {
  static const float matrix[8 * 6] = {0.5f}, vector[6] = {1.0f};
  static const uint32_t rows[] = {3, 1};
  heed_graph *graph = NULL;
  heed_backend *backend = NULL;
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  const heed_shape shape = HEED_SHAPE(1, 2, 150, 8);
  const heed_constant_desc map = {sizeof map, NULL, HEED_F32, HEED_SHAPE(8, 6), matrix, NULL, NULL},
                           va = {sizeof va, NULL, HEED_F32, HEED_SHAPE(6), vector, NULL, NULL};
  heed_status status = heed_graph_create(context, &graph, error);
  if (status != HEED_OK) return status;
  const heed_value x = heed_define_input(graph, "x", HEED_F32, &shape);
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = x,
                                    .key = x,
                                    .value = x,
                                    .score = HEED_SCORE_ADDITIVE,
                                    .wq = heed_define_constant(graph, &map),
                                    .wk = heed_define_constant(graph, &map),
                                    .va = heed_define_constant(graph, &va),
                                    .rows = rows,
                                    .row_count = 2};
  const heed_attention_values values = heed_define_attention(graph, &desc);
  heed_graph_output(graph, values.output);
  const heed_plan_desc how = {sizeof how, &values.weights, 1, mode};
  const heed_cpu_desc cpu = {sizeof cpu, 2, NULL};
  status = heed_graph_status(graph, error);
  if (status == HEED_OK) status = heed_cpu_backend_create(context, &cpu, &backend, error);
  if (status == HEED_OK) status = heed_plan_create(graph, backend, &how, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  if (status == HEED_OK) status = heed_session_run(session, NULL, error);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_backend_destroy(backend);
  heed_graph_destroy(graph);
  return status;
}

static void test_every_allocation_failed_once(void **state) {
  (void)state;
  for (int mode = HEED_ATTENTION_MODE_RESIDENT; mode <= HEED_ATTENTION_MODE_STREAMED; mode++) {
    heed_status status = HEED_OUT_OF_MEMORY;
    size_t n = 0;
    while (status != HEED_OK) {
      test_allocator allocator = {0, 0, 0};
      heed_context_desc desc = test_context_desc(&allocator);
      heed_context *context;
      heed_error error = {HEED_OK, ""};
      assert_ok(heed_context_create(&desc, &context, &error));
      allocator.fail_at = allocator.total + ++n;
      status = run_all(context, (heed_attention_mode)mode, &error);
      if (status != HEED_OK) assert_int_equal(status, HEED_OUT_OF_MEMORY);
      heed_context_destroy(context);
      assert_int_equal(allocator.live, 0);
      assert_true(n < 1000);
    }
    assert_true(n > 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_plans_are_small),
      cmocka_unit_test(test_long_sessions_are_small),
      cmocka_unit_test(test_every_allocation_failed_once),
  };
  return cmocka_run_group_tests_name("attention memory", tests, NULL, test_backend_close_all);
}
