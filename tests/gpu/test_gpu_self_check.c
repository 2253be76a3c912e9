/* The self-check without a device: its graph has every op of the list, and a wrong result of any of
 * them fails it under that op's name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "gpu/self_check.h"
#include "graph/graph.h"
#include "support/test.h"

#define TOLERANCE 1e-4

static heed_context *context;
static heed_gpu_check_graph check;
static heed_error error;

static const heed_node *node_of(uint32_t id) {
  return &check.graph->nodes[heed_graph_record(check.graph, id)->node];
}

/* Every op has a node of its own, and a result that is compared. */
static void test_every_op(void **state) {
  (void)state;
  static const char *const names[] = {
#define HEED_OP(name) #name,
#include "graph/op_list.h"
#undef HEED_OP
  };
  uint32_t compared[HEED_OP_KIND_COUNT] = {0}, missing = 0;
  assert_int_equal(sizeof names / sizeof *names, HEED_OP_KIND_host); /* which no device runs */
  for (uint32_t id = 0; (id = heed_gpu_check_next(&check, id));) compared[node_of(id)->op]++;
  for (uint32_t op = 0; op < HEED_OP_KIND_host; op++) {
    if (!compared[op]) print_error("the self-check compares no result of %s\n", names[op]);
    missing += !compared[op];
  }
  assert_int_equal(missing, 0);
}

/* Results of a node that somebody could read are compared, not only its first. */
static void test_every_result(void **state) {
  (void)state;
  for (size_t i = 0; i < check.graph->node_count; i++)
    for (uint32_t k = 0; k < HEED_NODE_OUTPUTS; k++) {
      const heed_node *node = &check.graph->nodes[i];
      /* what a define function puts in front */
      const bool inner = node->op == HEED_OP_KIND_activation || node->op == HEED_OP_KIND_linear;
      if (!node->output[k] || inner || heed_graph_record(check.graph, node->output[k])->output)
        continue;
      fail_msg("result %u of node %zu (%s) is not compared", k, i, heed_ops[node->op]->name);
    }
}

/* The CPU's results are numbers (logits that are masked are -Inf), and each result has more than
 * one. */
static void test_results_are_numbers(void **state) {
  (void)state;
  const size_t count = heed_gpu_check_count(&check);
  float *x = calloc(count, sizeof *x), *at = x;
  heed_backend *cpu;
  uint32_t steps;
  assert_ok(heed_cpu_backend_create(context, NULL, &cpu, &error));
  assert_ok(heed_gpu_check_run(&check, cpu, x, &steps, &error));
  assert_int_equal(steps, check.graph->node_count);
  for (uint32_t id = 0; (id = heed_gpu_check_next(&check, id));) {
    const uint64_t size = heed_shape_count(&heed_graph_record(check.graph, id)->shape);
    uint64_t different = 0;
    for (uint64_t k = 0; k < size; k++) {
      if (isnan(at[k]) || at[k] == INFINITY)
        fail_msg("element %llu of value %u (%s) is %g", (unsigned long long)k, id,
                 heed_ops[node_of(id)->op]->name, (double)at[k]);
      different += at[k] != at[0];
    }
    if (!different)
      fail_msg("value %u (%s) is %g everywhere", id, heed_ops[node_of(id)->op]->name,
               (double)at[0]);
    at += size;
  }
  assert_ptr_equal(at, x + count);
  heed_backend_destroy(cpu);
  free(x);
}

/* One element off, the first, a middle one or the last of each result, by 3 times what is allowed,
 * or NaN. */
static void test_wrong_results(void **state) {
  (void)state;
  const size_t count = heed_gpu_check_count(&check);
  float *found = calloc(count, sizeof *found), *expected = calloc(count, sizeof *expected);
  heed_gpu_check_record record = {0};
  heed_gpu_check_compare(&check, found, expected, TOLERANCE, &record);
  assert_true(record.passed && record.max_error == 0.0);
  size_t first = 0;
  for (uint32_t id = 0; (id = heed_gpu_check_next(&check, id));) {
    const size_t size = (size_t)heed_shape_count(&heed_graph_record(check.graph, id)->shape);
    const size_t places[] = {first, first + size / 2, first + size - 1};
    for (int i = 0; i < 6; i++) {
      found[places[i / 2]] = i % 2 ? NAN : (float)(3 * TOLERANCE);
      heed_gpu_check_compare(&check, found, expected, TOLERANCE, &record);
      found[places[i / 2]] = 0.0f;
      assert_false(record.passed);
      assert_true(record.max_error > 2.9 * TOLERANCE);
      assert_string_equal(record.worst, heed_ops[node_of(id)->op]->name);
    }
    first += size;
  }
  assert_int_equal(first, count);
  free(expected);
  free(found);
}

/* The hash is the same for the same graph, and another once a node is added. */
static void test_hash(void **state) {
  (void)state;
  heed_gpu_check_graph other;
  assert_ok(heed_gpu_check_graph_create(context, HEED_GPU_CHECK_SMALL, &other, &error));
  const uint64_t hash = heed_gpu_check_hash(&other);
  assert_true(hash == heed_gpu_check_hash(&check));
  const heed_softmax_desc desc = {sizeof desc, other.tokens};
  heed_graph_output(other.graph, heed_define_softmax(other.graph, &desc));
  assert_true(hash != heed_gpu_check_hash(&other));
  heed_gpu_check_graph_free(&other);
}

static int make_graph(void **state) {
  (void)state;
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  return heed_gpu_check_graph_create(context, HEED_GPU_CHECK_SMALL, &check, &error) == HEED_OK ? 0
                                                                                               : 1;
}

static int free_graph(void **state) {
  (void)state;
  heed_gpu_check_graph_free(&check);
  heed_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_op),
      cmocka_unit_test(test_every_result),
      cmocka_unit_test(test_results_are_numbers),
      cmocka_unit_test(test_wrong_results),
      cmocka_unit_test(test_hash),
  };
  return cmocka_run_group_tests(tests, make_graph, free_graph);
}
