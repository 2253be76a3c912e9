/* The plan: what runs, lifetimes, the arena. A dummy backend stands in, so nothing is computed. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/tensor.h"
#include "plan/plan.h"

static heed_status supports(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                            heed_error *error) {
  (void)backend, (void)plan, (void)node, (void)error;
  return HEED_OK;
}

static heed_status measure(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                           heed_error *error) {
  (void)backend, (void)plan, (void)memory, (void)error;
  return HEED_OK;
}

static const heed_backend_vtable dummy_vtable = {
    .name = "dummy", .plan = {.supports = supports, .measure = measure}};

typedef struct fixture {
  heed_context *context;
  heed_graph *graph;
  heed_backend backend;
} fixture;

static int setup(void **state) {
  static fixture f;
  heed_error error;
  assert_ok(heed_context_create(NULL, &f.context, &error));
  assert_ok(heed_graph_create(f.context, &f.graph, &error));
  f.backend = (heed_backend){.vtable = &dummy_vtable, .context = f.context};
  *state = &f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  heed_graph_destroy(f->graph);
  heed_context_destroy(f->context);
  return 0;
}

static heed_value activate(fixture *f, heed_value x) {
  const heed_activation_desc desc = {sizeof desc, x, HEED_ACTIVATION_RELU, HEED_ACTIVATION_VALUE};
  return heed_define_activation(f->graph, &desc);
}

static heed_plan *plan_of(fixture *f, const heed_value *taps, uint32_t count) {
  heed_plan *plan;
  heed_error error;
  const heed_plan_desc desc = {sizeof desc, taps, count, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(f->graph, &f->backend, &desc, &plan, &error));
  return plan;
}

static void test_only_what_is_needed_runs(void **state) {
  fixture *f = *state;
  const heed_shape shape = HEED_SHAPE(100);
  const heed_value x = heed_define_input(f->graph, "x", HEED_F32, &shape);
  const heed_value used = activate(f, x);
  activate(f, used); /* nobody wants this */
  heed_graph_output(f->graph, used);
  heed_plan *plan = plan_of(f, NULL, 0);
  assert_int_equal(heed_plan_step_count(plan), 1);
  heed_plan_destroy(plan);
}

static void test_attention_weights_cost_nothing_unless_wanted(void **state) {
  fixture *f = *state;
  const heed_shape shape = HEED_SHAPE(1, 2, 64, 16);
  const heed_value x = heed_define_input(f->graph, "x", HEED_F32, &shape);
  const heed_attention_desc desc = {.struct_size = sizeof desc, .query = x, .key = x, .value = x};
  const heed_attention_values values = heed_define_attention(f->graph, &desc);
  heed_graph_output(f->graph, values.output);
  heed_plan *without = plan_of(f, NULL, 0), *with = plan_of(f, &values.weights, 1);
  heed_memory a, b;
  heed_plan_memory(without, &a);
  heed_plan_memory(with, &b);
  assert_false(heed_plan_wants(without, values.weights.id));
  assert_true(heed_plan_wants(with, values.weights.id));
  assert_int_equal(b.arena - a.arena, 2 * 64 * 64 * 4);
  assert_int_equal(b.taps, 2 * 64 * 64 * 4);
  assert_int_equal(a.taps, 0);
  heed_plan_destroy(without);
  heed_plan_destroy(with);
}

static heed_attention_mode says_streamed(const heed_backend *backend, const heed_plan *plan,
                                         const heed_node *node) {
  (void)backend, (void)node;
  return plan->attention == HEED_ATTENTION_MODE_AUTO ? HEED_ATTENTION_MODE_STREAMED
                                                     : plan->attention;
}

/* The mode and the cost of the maps that the first step of a plan shows. */
static void assert_mode(fixture *f, const heed_plan_desc *desc, const char *mode) {
  heed_plan *plan;
  heed_plan_step step;
  heed_error error;
  assert_ok(heed_plan_create(f->graph, &f->backend, desc, &plan, &error));
  heed_plan_step_info(plan, 0, &step);
  assert_string_equal(step.mode, mode);
  assert_int_equal(step.map_bytes, 2 * 64 * 64 * 4);
  heed_plan_destroy(plan);
}

static void test_a_plan_says_how_attention_runs(void **state) {
  fixture *f = *state;
  heed_plan *plan;
  heed_error error;
  const heed_backend_vtable vtable = {
      .name = "dummy", .plan = {.supports = supports, .measure = measure, .mode = says_streamed}};
  const heed_shape shape = HEED_SHAPE(1, 2, 64, 16);
  const heed_value x = heed_define_input(f->graph, "x", HEED_F32, &shape);
  const heed_attention_desc desc = {.struct_size = sizeof desc, .query = x, .key = x, .value = x};
  const heed_attention_values values = heed_define_attention(f->graph, &desc);
  heed_graph_output(f->graph, values.output);
  heed_plan_desc how = HEED_PLAN_DESC_INIT;
  assert_mode(f, &how, "");
  f->backend.vtable = &vtable;
  assert_mode(f, &how, "streamed");
  how.taps = &values.weights;
  how.tap_count = 1;
  assert_mode(f, &how, "streamed with weights");
  how.attention = HEED_ATTENTION_MODE_RESIDENT;
  assert_mode(f, &how, "resident");
  how.attention = (heed_attention_mode)7;
  assert_fails(heed_plan_create(f->graph, &f->backend, &how, &plan, &error), HEED_INVALID_ARGUMENT,
               "unknown attention mode (found 7");
}

static void test_a_chain_needs_its_input_and_two_places(void **state) {
  fixture *f = *state;
  const heed_shape shape = HEED_SHAPE(1024);
  heed_value x = heed_define_input(f->graph, "x", HEED_F32, &shape);
  for (int i = 0; i < 20; i++) x = activate(f, x);
  heed_graph_output(f->graph, x);
  heed_plan *plan = plan_of(f, NULL, 0);
  heed_memory memory;
  heed_plan_memory(plan, &memory);
  /* the input keeps its own; what follows takes turns in two */
  assert_int_equal(memory.arena, 3 * 4096);
  heed_plan_destroy(plan);
}

static void test_nothing_to_compute_is_said(void **state) {
  fixture *f = *state;
  heed_plan *plan;
  heed_error error;
  const heed_shape shape = HEED_SHAPE(4);
  heed_define_input(f->graph, "x", HEED_F32, &shape);
  assert_fails(heed_plan_create(f->graph, &f->backend, NULL, &plan, &error), HEED_INVALID_ARGUMENT,
               "nothing to compute");
  assert_null(plan);
}

/* Two values whose lifetimes meet never overlap in the arena; every place lies inside it. */
static void assert_no_overlap(const heed_plan *plan, uint64_t seed) {
  for (uint32_t a = 1; a <= plan->value_count; a++)
    for (uint32_t b = a + 1; b <= plan->value_count; b++) {
      const heed_placement *p = &plan->placement[a], *q = &plan->placement[b];
      if (!p->live || !q->live || !p->bytes || !q->bytes) continue;
      const bool meet = p->first <= q->last && q->first <= p->last;
      const bool overlap = p->offset < q->offset + q->bytes && q->offset < p->offset + p->bytes;
      if (meet && overlap)
        fail_msg("values %u and %u overlap (seed %llu)", a, b, (unsigned long long)seed);
      assert_true(p->offset + p->bytes <= plan->memory.arena);
      assert_int_equal(p->offset % HEED_ARENA_ALIGNMENT, 0);
    }
}

static void test_random_graphs_never_overlap(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fixture *f;
    setup((void **)&f);
    test_random random = {seed};
    heed_value values[48];
    uint32_t count = 0;
    const heed_shape shapes[] = {HEED_SHAPE(1000), HEED_SHAPE(3), HEED_SHAPE(64, 64),
                                 HEED_SHAPE(257, 3)};
    for (; count < 4; count++) {
      const char name[2] = {(char)('a' + count), 0};
      values[count] = heed_define_input(f->graph, name, HEED_F32, &shapes[count]);
    }
    for (; count < 48; count++) {
      const heed_value x = values[test_random_below(&random, count)];
      const heed_add_desc add = {sizeof add, x, x};
      values[count] =
          test_random_below(&random, 2) ? activate(f, x) : heed_define_add(f->graph, &add);
      if (test_random_below(&random, 6) == 0) heed_graph_output(f->graph, values[count]);
    }
    heed_graph_output(f->graph, values[47]);
    heed_plan *plan = plan_of(f, &values[20], 3);
    assert_no_overlap(plan, seed);
    heed_plan_destroy(plan);
    teardown((void **)&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_only_what_is_needed_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_attention_weights_cost_nothing_unless_wanted, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(test_a_plan_says_how_attention_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_chain_needs_its_input_and_two_places, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nothing_to_compute_is_said, setup, teardown),
      cmocka_unit_test(test_random_graphs_never_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
