/* position_mask against its definition: the distance j - i - off between a key and a query's place;
 * sizes around a word of four bytes, offsets of any sign and size. Exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct mask_case {
  uint32_t batch, heads, mask_batch, queries, keys; /* mask_batch 0: no mask */
  heed_causal causal;
  bool window;
  int32_t left, right, offset;
} mask_case;

static bool may_attend(const mask_case *c, int64_t offset, uint32_t i, uint32_t j) {
  const int64_t distance =
      (int64_t)j - (int64_t)i - offset - c->offset -
      (c->causal == HEED_CAUSAL_BOTTOM_RIGHT ? (int64_t)c->keys - (int64_t)c->queries : 0);
  if (c->causal != HEED_CAUSAL_NONE && distance > 0) return false;
  if (c->window && c->left >= 0 && distance < -(int64_t)c->left) return false;
  return !(c->window && c->right >= 0 && distance > c->right);
}

static void expect_mask(const mask_case *c, uint64_t seed, const int32_t *offsets,
                        const uint8_t *mask, const uint8_t *found, uint32_t backend) {
  const uint32_t heads = c->mask_batch ? c->heads : 1;
  const size_t item = (size_t)heads * c->queries * c->keys, count = c->batch * item;
  for (size_t at = 0; at < count; at++) {
    const uint32_t j = (uint32_t)(at % c->keys), i = (uint32_t)(at / c->keys % c->queries);
    const size_t b = at / item;
    const bool seen = !c->mask_batch || mask[(c->mask_batch == 1 ? 0 : b) * item + at % item];
    if (found[at] != (seen && may_attend(c, offsets[b], i, j)))
      fail_msg("position_mask B %u H %u Tq %u Tk %u causal %d window %d [%d, %d] offset %d + %d, "
               "seed %llu: item %zu, query %u, key %u: found %u, on %s",
               c->batch, heads, c->queries, c->keys, (int)c->causal, c->window, c->left, c->right,
               c->offset, offsets[b], (unsigned long long)seed, b, i, j, found[at],
               test_backend_name(backend));
  }
}

static void run(const mask_case *c, uint64_t seed) {
  heed_error error = {HEED_OK, ""};
  test_random random = {seed};
  const uint32_t heads = c->mask_batch ? c->heads : 1;
  const size_t item = (size_t)heads * c->queries * c->keys, count = c->batch * item;
  int32_t *offsets = malloc(c->batch * sizeof *offsets);
  uint8_t *mask = malloc(item * (c->mask_batch + 1)), *found = malloc(count);
  assert_non_null(offsets);
  assert_non_null(mask);
  assert_non_null(found);
  static const int32_t far[] = {-100000, 100000, INT32_MIN, INT32_MAX};
  for (uint32_t b = 0; b < c->batch; b++)
    offsets[b] = test_random_below(&random, 4) == 0
                     ? far[test_random_below(&random, 4)]
                     : (int32_t)test_random_below(&random, c->keys + 9) - 6;
  for (size_t i = 0; i < item * c->mask_batch; i++)
    mask[i] = (uint8_t)(test_random_below(&random, 3) * 100);
  heed_graph *graph;
  assert_ok(heed_graph_create(test_backend_context(), &graph, &error));
  heed_position_mask_desc desc = {
      .struct_size = sizeof desc,
      .offsets = heed_define_input(graph, "offsets", HEED_I32, &HEED_SHAPE(c->batch)),
      .queries = c->queries,
      .keys = c->keys,
      .causal = c->causal,
      .window = c->window,
      .window_left = c->left,
      .window_right = c->right,
      .causal_offset = c->offset};
  if (c->mask_batch)
    desc.mask = heed_define_input(graph, "mask", HEED_U8,
                                  &HEED_SHAPE(c->mask_batch, heads, c->queries, c->keys));
  const heed_value result = heed_define_position_mask(graph, &desc);
  heed_graph_output(graph, result);
  for (uint32_t n = 0; n < test_backend_count(); n++) {
    heed_plan *plan;
    heed_session *session;
    assert_ok(heed_plan_create(graph, test_backend_get(n), NULL, &plan, &error));
    assert_ok(heed_session_create(plan, NULL, &session, &error));
    assert_ok(
        heed_session_write(session, desc.offsets, offsets, c->batch * sizeof *offsets, &error));
    if (c->mask_batch)
      assert_ok(heed_session_write(session, desc.mask, mask, item * c->mask_batch, &error));
    assert_ok(heed_session_run(session, NULL, &error));
    assert_ok(heed_session_read(session, result, 0, count, found, &error));
    expect_mask(c, seed, offsets, mask, found, n);
    heed_session_destroy(session);
    heed_plan_destroy(plan);
  }
  heed_graph_destroy(graph);
  free(offsets);
  free(mask);
  free(found);
}

static void test_masks(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed < 60; seed++) {
    test_random r = {seed * 7919};
    const mask_case c = {.batch = 1 + test_random_below(&r, 3),
                         .heads = 1 + test_random_below(&r, 3),
                         .mask_batch = test_random_below(&r, 2),
                         .queries = 1 + test_random_below(&r, 12),
                         .keys = 1 + test_random_below(&r, 19),
                         .causal = (heed_causal)test_random_below(&r, 3),
                         .window = test_random_below(&r, 2) != 0,
                         .left = (int32_t)test_random_below(&r, 6) - 1,
                         .right = (int32_t)test_random_below(&r, 6) - 1,
                         .offset = (int32_t)test_random_below(&r, 9) - 4};
    run(&c, seed);
    mask_case items = c;
    items.mask_batch = c.batch;
    run(&items, seed);
  }
  const mask_case large = {2, 1, 2, 129, 301, HEED_CAUSAL_TOP_LEFT, true, 40, -1, 3};
  run(&large, 99);
}

static void test_wrong(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  static const struct {
    heed_shape offsets, mask;
    heed_dtype dtype;
    uint32_t queries;
    int32_t left;
    const char *sentence;
  } wrong[] = {{{1, {2}}, {0}, HEED_F32, 3, 0, "wrong dtype"},
               {{2, {2, 1}}, {0}, HEED_I32, 3, 0, "offsets: wrong number of axes"},
               {{1, {2}}, {4, {3, 1, 3, 4}}, HEED_I32, 3, 0, "mask: wrong shape"},
               {{1, {2}}, {3, {2, 3, 4}}, HEED_I32, 3, 0, "mask: wrong number of axes"},
               {{1, {2}}, {0}, HEED_I32, 0, 0, "invalid sizes"},
               {{1, {2}}, {0}, HEED_I32, 3, -2, "invalid window"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    heed_graph *graph;
    assert_ok(heed_graph_create(test_backend_context(), &graph, &error));
    heed_position_mask_desc desc = {
        .struct_size = sizeof desc,
        .offsets = heed_define_input(graph, "offsets", wrong[i].dtype, &wrong[i].offsets),
        .queries = wrong[i].queries,
        .keys = 4,
        .window = true,
        .window_left = wrong[i].left};
    if (wrong[i].mask.rank) desc.mask = heed_define_input(graph, "mask", HEED_U8, &wrong[i].mask);
    assert_int_equal(heed_define_position_mask(graph, &desc).id, 0);
    assert_fails(heed_graph_status(graph, &error), HEED_INVALID_ARGUMENT, wrong[i].sentence);
    heed_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks), cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("position_mask", tests, NULL, test_backend_close_all);
}
