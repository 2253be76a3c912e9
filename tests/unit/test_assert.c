/* Internal calls that break what heed owes to itself stop the program, in builds that have
 * asserts. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/cpu_op.h"
#include "graph/op_check.h"
#include "support/test.h"

static heed_context *context;
static heed_graph *graph;
static const heed_shape shape = {2, {2, 3}};

static void right_record(void) { (void)heed_graph_record(graph, 1); }
static void no_record(void) { (void)heed_graph_record(graph, 0); }
static void record_past_the_end(void) { (void)heed_graph_record(graph, 4); }

/* add has two inputs. */
static void take_slot(uint32_t slot) {
  const heed_node node = {.op = HEED_OP_KIND_add};
  const heed_cpu_step step = {.node = &node};
  (void)heed_cpu_input(&step, slot);
}
static void right_slot(void) { take_slot(1); }
static void slot_past_the_end(void) { take_slot(2); }

/* A slot that the op does not have, and one that was taken before. */
static void take_input(uint32_t slot, uint32_t taken) {
  const heed_add_desc desc = {sizeof desc, {1}, {2}};
  heed_node node = {.op = HEED_OP_KIND_add, .desc = &desc};
  node.input[1] = taken;
  (void)heed_op_take(graph, &node, slot, HEED_F32, NULL);
}
static void right_input(void) { take_input(1, 0); }
static void input_past_the_end(void) { take_input(2, 0); }
static void input_twice(void) { take_input(1, 2); }

static void offset_in(uint64_t arena) {
  heed_placement placement[3] = {{0}, {.live = true, .offset = 256, .bytes = 24}, {0}};
  const heed_plan plan = {
      .graph = graph, .placement = placement, .value_count = 2, .memory = {.arena = arena}};
  (void)heed_plan_offset(&plan, 1);
}
static void right_offset(void) { offset_in(280); }
static void offset_past_the_arena(void) { offset_in(279); }

/* The constant has six elements. */
static void read_elements(uint32_t id, uint64_t first) {
  float to[2];
  (void)heed_graph_read_constant(graph, id, first, 2, to, NULL);
}
static void right_elements(void) { read_elements(3, 4); }
static void elements_past_the_end(void) { read_elements(3, 5); }
static void elements_of_an_input(void) { read_elements(1, 0); }

/* A plan without steps. */
static void step_past_the_end(void) { (void)heed_plan_node(&(heed_plan){.graph = graph}, 0); }

static void empty_value(void) {
  graph->values[1].shape.dim[0] = 0;
  (void)heed_plan_bytes(&(heed_plan){.graph = graph}, 2);
}

/* Whether the call ends its process by abort(); its stderr is closed, as what is said there is
 * expected. */
static bool aborts(void (*call)(void)) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr)) _exit(3);
    call();
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFSIGNALED(status)) assert_int_equal(WEXITSTATUS(status), 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_right_calls_go_on(void **state) {
  (void)state;
  assert_false(aborts(right_record));
  assert_false(aborts(right_slot));
  assert_false(aborts(right_input));
  assert_false(aborts(right_offset));
  assert_false(aborts(right_elements));
}

static void test_wrong_calls_stop(void **state) {
  (void)state;
  assert_true(aborts(no_record));
  assert_true(aborts(record_past_the_end));
  assert_true(aborts(slot_past_the_end));
  assert_true(aborts(input_past_the_end));
  assert_true(aborts(input_twice));
  assert_true(aborts(offset_past_the_arena));
  assert_true(aborts(elements_past_the_end));
  assert_true(aborts(elements_of_an_input));
  assert_true(aborts(step_past_the_end));
  assert_true(aborts(empty_value));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_calls_go_on),
                                     cmocka_unit_test(test_wrong_calls_stop)};
  heed_error error;
#if !defined(HEED_ASSERTS)
  printf("skipped: this build has no asserts (HEED_ASSERTS is off)\n");
  return 77;
#endif
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_graph_create(context, &graph, &error) != HEED_OK)
    return 1;
  heed_define_input(graph, "a", HEED_F32, &shape);
  heed_define_input(graph, "b", HEED_F32, &shape);
  const float numbers[6] = {0};
  const heed_constant_desc constant = {
      .struct_size = sizeof constant, .dtype = HEED_F32, .shape = shape, .data = numbers};
  heed_define_constant(graph, &constant);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  heed_graph_destroy(graph);
  heed_context_destroy(context);
  return failed;
}
