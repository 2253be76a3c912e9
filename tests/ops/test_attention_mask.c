/* attention_mask against its definition: query real AND key real AND causal; sizes around a word of
 * four bytes. Exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

/* op_test compares F32; a mask is read as bytes. */
static void compare(heed_graph *graph, const heed_value *inputs, const int32_t *const *ids,
                    const size_t *counts, heed_value mask, const uint8_t *expected, size_t count,
                    const char *what) {
  heed_error error = {HEED_OK, ""};
  uint8_t *found = malloc(count);
  assert_non_null(found);
  for (uint32_t b = 0; b < test_backend_count(); b++) {
    heed_plan *plan;
    heed_session *session;
    assert_ok(heed_plan_create(graph, test_backend_get(b), NULL, &plan, &error));
    assert_ok(heed_session_create(plan, NULL, &session, &error));
    for (uint32_t i = 0; i < 2; i++)
      if (inputs[i].id)
        assert_ok(
            heed_session_write(session, inputs[i], ids[i], counts[i] * sizeof *ids[i], &error));
    assert_ok(heed_session_run(session, NULL, &error));
    assert_ok(heed_session_read(session, mask, 0, count, found, &error));
    for (size_t i = 0; i < count; i++)
      if (found[i] != expected[i])
        fail_msg("%s: byte %zu of %zu: found %u, expected %u, on %s", what, i, count, found[i],
                 expected[i], test_backend_name(b));
    heed_session_destroy(session);
    heed_plan_destroy(plan);
  }
  free(found);
}

static int32_t *random_ids(test_random *random, size_t count, int32_t padding) {
  int32_t *ids = malloc(count * sizeof *ids);
  assert_non_null(ids);
  for (size_t i = 0; i < count; i++)
    ids[i] =
        test_random_below(random, 3) ? (int32_t)test_random_below(random, 1000) - 500 : padding;
  return ids;
}

/* queries 0: without query ids. */
static void run(uint32_t batch, uint32_t queries, uint32_t keys, bool causal, int32_t padding,
                uint64_t seed) {
  char what[160];
  heed_error error = {HEED_OK, ""};
  test_random random = {seed};
  const uint32_t rows = queries ? queries : 1;
  int32_t *const ids[2] = {random_ids(&random, (size_t)batch * rows, padding),
                           random_ids(&random, (size_t)batch * keys, padding)};
  const size_t count = (size_t)batch * rows * keys,
               counts[2] = {(size_t)batch * rows, (size_t)batch * keys};
  uint8_t *expected = malloc(count);
  assert_non_null(expected);
  for (size_t b = 0, at = 0; b < batch; b++)
    for (size_t q = 0; q < rows; q++)
      for (size_t k = 0; k < keys; k++, at++)
        expected[at] = ids[1][b * keys + k] != padding &&
                       (!queries || ids[0][b * rows + q] != padding) && (!causal || k <= q);
  snprintf(what, sizeof what, "attention_mask [%u, %u, %u]%s, padding %d, seed %llu", batch,
           queries, keys, causal ? " causal" : "", padding, (unsigned long long)seed);
  heed_graph *graph;
  assert_ok(heed_graph_create(test_backend_context(), &graph, &error));
  const heed_shape query_shape = HEED_SHAPE(batch, rows), key_shape = HEED_SHAPE(batch, keys);
  heed_value inputs[2] = {{0}, {0}};
  if (queries) inputs[0] = heed_define_input(graph, "query_ids", HEED_I32, &query_shape);
  inputs[1] = heed_define_input(graph, "key_ids", HEED_I32, &key_shape);
  const heed_attention_mask_desc desc = {sizeof desc, inputs[0], inputs[1], causal, padding};
  const heed_value mask = heed_define_attention_mask(graph, &desc);
  heed_graph_output(graph, mask);
  compare(graph, inputs, (const int32_t *const[]){ids[0], ids[1]}, counts, mask, expected, count,
          what);
  heed_graph_destroy(graph);
  free(ids[0]);
  free(ids[1]);
  free(expected);
}

static void test_masks(void **state) {
  (void)state;
  run(1, 1, 1, false, 0, 1);
  for (uint32_t keys = 1; keys < 10; keys++) run(3, 5, keys, keys % 2, 0, 10 + keys);
  run(2, 33, 127, true, -1, 30);
  run(2, 127, 33, true, 7, 31);
  run(1, 300, 129, false, 0, 32);
}

static void test_padding(void **state) {
  (void)state;
  for (uint32_t keys = 1; keys < 10; keys++) run(3, 0, keys, false, 0, 40 + keys);
  run(1, 0, 20011, false, 3, 60);
}

static void test_wrong(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  static const struct {
    heed_shape queries, keys;
    heed_dtype dtype;
    bool has_queries, causal;
    const char *sentence;
  } wrong[] = {{{2, {2, 3}},
                {2, {3, 3}},
                HEED_I32,
                true,
                false,
                "query_ids: wrong shape (found [2, 3], expected [3, 3])"},
               {{2, {2, 3}}, {1, {3}}, HEED_I32, true, false, "key_ids: wrong number of axes"},
               {{2, {2, 3}}, {2, {2, 3}}, HEED_F32, true, false, "wrong dtype"},
               {{2, {2, 3}}, {2, {2, 3}}, HEED_I32, false, true, "causal needs query_ids"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    heed_graph *graph;
    assert_ok(heed_graph_create(test_backend_context(), &graph, &error));
    heed_attention_mask_desc desc = {.struct_size = sizeof desc, .causal = wrong[i].causal};
    if (wrong[i].has_queries)
      desc.query_ids = heed_define_input(graph, "query_ids", HEED_I32, &wrong[i].queries);
    desc.key_ids = heed_define_input(graph, "key_ids", wrong[i].dtype, &wrong[i].keys);
    assert_int_equal(heed_define_attention_mask(graph, &desc).id, 0);
    assert_fails(heed_graph_status(graph, &error), HEED_INVALID_ARGUMENT, wrong[i].sentence);
    heed_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks), cmocka_unit_test(test_padding),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("attention_mask", tests, NULL, test_backend_close_all);
}
