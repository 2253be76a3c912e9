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

static void test_taps_pass_where_stages_end(void **state) {
  fixture *f = *state;
  heed_plan *plan;
  heed_error error;
  const heed_shape shape = HEED_SHAPE(4);
  heed_graph_output(f->graph, activate(f, heed_define_input(f->graph, "x", HEED_F32, &shape)));
  heed_plan_desc how = HEED_PLAN_DESC_INIT;
  how.passing_taps = true;
  assert_fails(heed_plan_create(f->graph, &f->backend, &how, &plan, &error), HEED_UNSUPPORTED,
               "the dummy backend runs all stages at once");
  how.struct_size = 1;
  assert_fails(heed_plan_create(f->graph, &f->backend, &how, &plan, &error), HEED_INVALID_ARGUMENT,
               "struct_size");
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

static uint32_t any_slot(const heed_backend *backend, const heed_node *node) {
  (void)backend, (void)node;
  return ~0u;
}

/* A result takes the place of an input that ends with it; not of one that is read later, is kept,
 * or of which the node reads a part elsewhere. */
static void test_results_take_places(void **state) {
  fixture *f = *state;
  heed_backend_vtable in_place = dummy_vtable;
  in_place.plan.in_place = any_slot;
  f->backend.vtable = &in_place;
  const heed_shape shape = HEED_SHAPE(4, 256), part = HEED_SHAPE(256);
  const heed_value x = heed_define_input(f->graph, "x", HEED_F32, &shape), a = activate(f, x),
                   b = activate(f, a), c = activate(f, b);
  const heed_multiply_desc later = {sizeof later, activate(f, c), c};
  const heed_value d = heed_define_multiply(f->graph, &later);
  const heed_multiply_desc with_part = {sizeof with_part, d,
                                        heed_define_view(f->graph, d, 256, &part)};
  const heed_value e = heed_define_multiply(f->graph, &with_part), tapped = activate(f, e),
                   y = activate(f, tapped), z = activate(f, y);
  heed_graph_output(f->graph, z);
  heed_plan *plan = plan_of(f, &tapped, 1);
  const uint64_t bytes = 4096;
  assert_true(heed_plan_offset(plan, a.id) != heed_plan_offset(plan, x.id)); /* an input stays */
  assert_true(heed_plan_offset(plan, b.id) == heed_plan_offset(plan, a.id));
  assert_true(heed_plan_offset(plan, c.id) == heed_plan_offset(plan, a.id));
  assert_true(heed_plan_offset(plan, later.a.id) != heed_plan_offset(plan, c.id));
  assert_true(heed_plan_offset(plan, e.id) != heed_plan_offset(plan, d.id));
  assert_true(heed_plan_offset(plan, tapped.id) != heed_plan_offset(plan, e.id));
  assert_true(heed_plan_offset(plan, y.id) != heed_plan_offset(plan, tapped.id));
  heed_memory memory;
  heed_plan_memory(plan, &memory);
  assert_int_equal(memory.arena, 4 * bytes); /* x, the tap, z, and y beside it; c and d before */
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

#define RANDOM_VALUES 48

/* Inputs of four shapes, and nodes that read one to three of the values before them. */
static void grow(fixture *f, uint64_t seed, heed_value values[RANDOM_VALUES]) {
  test_random random = {seed};
  uint32_t count = 0;
  const heed_shape shapes[] = {HEED_SHAPE(1, 1, 10, 100), HEED_SHAPE(1, 1, 3, 1),
                               HEED_SHAPE(1, 1, 64, 64), HEED_SHAPE(1, 1, 257, 3)};
  uint32_t shape_of[RANDOM_VALUES];
  for (; count < 4; count++) {
    const char name[2] = {(char)('a' + count), 0};
    values[count] = heed_define_input(f->graph, name, HEED_F32, &shapes[count]);
    shape_of[count] = count;
  }
  for (; count < RANDOM_VALUES; count++) {
    const uint32_t at = test_random_below(&random, count);
    uint32_t other = test_random_below(&random, count);
    while (shape_of[other] != shape_of[at]) other = (other + 1) % count;
    const heed_value x = values[at], y = values[other];
    const heed_add_desc add = {sizeof add, x, y};
    const heed_attention_desc attention = {
        .struct_size = sizeof attention, .query = x, .key = y, .value = x};
    const uint32_t kind = test_random_below(&random, 3);
    if (kind == 2) {
      const heed_attention_values made = heed_define_attention(f->graph, &attention);
      values[count] = made.output;
      if (test_random_below(&random, 2)) heed_graph_output(f->graph, made.weights);
    } else {
      values[count] = kind ? activate(f, x) : heed_define_add(f->graph, &add);
    }
    shape_of[count] = shape_of[at];
    if (test_random_below(&random, 6) == 0) heed_graph_output(f->graph, values[count]);
  }
  heed_graph_output(f->graph, values[RANDOM_VALUES - 1]);
}

static void test_random_graphs_never_overlap(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fixture *f;
    heed_value values[RANDOM_VALUES];
    setup((void **)&f);
    grow(f, seed, values);
    heed_plan *plan = plan_of(f, &values[20], 3);
    assert_no_overlap(plan, seed);
    assert_int_equal(plan->bank_count, 1);
    assert_int_equal(plan->bank_end[0], plan->memory.arena);
    heed_plan_destroy(plan);
    teardown((void **)&f);
  }
}

static heed_plan_banks asked;
static heed_plan_banks says_banks(const heed_backend *backend) {
  (void)backend;
  return asked;
}

static void assert_in_its_bank(const heed_plan *plan, uint32_t id) {
  const heed_placement *place = &plan->placement[id];
  if (!place->live || !place->bytes) return;
  assert_true(place->bank < plan->bank_count);
  const uint64_t start = place->bank ? plan->bank_end[place->bank - 1] : 0,
                 end = plan->bank_end[place->bank];
  assert_true(place->offset >= start && place->offset + place->bytes <= end);
  if (asked.bytes) assert_true(end - start <= asked.bytes);
}

/* No step reads and writes one bank. */
static void assert_apart(const heed_plan *plan, uint64_t seed) {
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    uint32_t read = 0, written = 0;
    for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
      if (node->input[i])
        read |= 1u << plan->placement[heed_graph_root(plan->graph, node->input[i])].bank;
    for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++) {
      if (!heed_plan_wants(plan, node->output[i])) continue;
      const uint32_t bank = 1u << plan->placement[node->output[i]].bank;
      if ((read | written) & bank)
        fail_msg("step %u reads and writes a bank (seed %llu)", step, (unsigned long long)seed);
      written |= bank;
    }
  }
}

static void check_banks(heed_plan_banks banks) {
  const heed_backend_vtable vtable = {
      .name = "dummy", .plan = {.supports = supports, .measure = measure, .banks = says_banks}};
  uint32_t most = 0;
  asked = banks;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fixture *f;
    heed_value values[RANDOM_VALUES];
    setup((void **)&f);
    f->backend.vtable = &vtable;
    grow(f, seed, values);
    heed_plan *plan = plan_of(f, &values[20], 3);
    assert_no_overlap(plan, seed);
    assert_apart(plan, seed);
    for (uint32_t id = 1; id <= plan->value_count; id++) assert_in_its_bank(plan, id);
    assert_int_equal(plan->bank_end[plan->bank_count - 1], plan->memory.arena);
    if (plan->bank_count > most) most = plan->bank_count;
    heed_plan_destroy(plan);
    teardown((void **)&f);
  }
  print_message("at most %u banks\n", most);
}

static void test_no_step_reads_and_writes_one_bank(void **state) {
  (void)state;
  check_banks((heed_plan_banks){HEED_MOST_BANKS, 0});
}

static void test_banks_keep_to_a_size(void **state) {
  (void)state;
  check_banks((heed_plan_banks){HEED_MOST_BANKS, 300000});
}

static void test_a_value_larger_than_a_bank_is_refused(void **state) {
  fixture *f = *state;
  heed_plan *plan;
  heed_error error;
  const heed_backend_vtable vtable = {
      .name = "dummy", .plan = {.supports = supports, .measure = measure, .banks = says_banks}};
  const heed_shape shape = HEED_SHAPE(1024);
  asked = (heed_plan_banks){HEED_MOST_BANKS, 4095};
  f->backend.vtable = &vtable;
  heed_graph_output(f->graph, activate(f, heed_define_input(f->graph, "x", HEED_F32, &shape)));
  assert_fails(heed_plan_create(f->graph, &f->backend, NULL, &plan, &error),
               HEED_OUT_OF_DEVICE_MEMORY,
               "x does not fit the buffers of this device (found 4096 bytes, expected buffers of "
               "at most 4095)");
}

/* Taps are alive until a run ends: each is compared with all before it. */
static void test_many_taps_are_refused(void **state) {
  fixture *f = *state;
  enum { MOST = 8192 };
  static heed_value taps[MOST + 1];
  const heed_shape shape = HEED_SHAPE(16);
  heed_plan *plan;
  heed_error error;
  heed_value x = heed_define_input(f->graph, "x", HEED_F32, &shape);
  for (uint32_t i = 0; i <= MOST; i++) x = taps[i] = activate(f, x);
  heed_plan_destroy(plan_of(f, taps, MOST - 1)); /* and the input */
  const heed_plan_desc desc = {sizeof desc, taps, MOST + 1, HEED_ATTENTION_MODE_AUTO};
  assert_fails(heed_plan_create(f->graph, &f->backend, &desc, &plan, &error), HEED_UNSUPPORTED,
               "plan: too many values are alive with others (found 8192)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_only_what_is_needed_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_attention_weights_cost_nothing_unless_wanted, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(test_a_plan_says_how_attention_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_taps_pass_where_stages_end, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_chain_needs_its_input_and_two_places, setup, teardown),
      cmocka_unit_test_setup_teardown(test_results_take_places, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nothing_to_compute_is_said, setup, teardown),
      cmocka_unit_test(test_random_graphs_never_overlap),
      cmocka_unit_test(test_no_step_reads_and_writes_one_bank),
      cmocka_unit_test(test_banks_keep_to_a_size),
      cmocka_unit_test_setup_teardown(test_a_value_larger_than_a_bank_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(test_many_taps_are_refused, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
