/* Dispatches split to a budget: every workgroup is in one part, no part is larger than it must be,
 * stages and submissions end where they should. */
#include <string.h>

#include "gpu/split_submissions.h"
#include "support/test.h"

enum { MOST_GROUPS = 8 * 8 * 8 };

static const heed_gpu_limits limits = {.groups = 8};

/* Walks over one dispatch and returns the number of subdispatches. */
static uint32_t walk_one(uint32_t x, uint32_t y, uint32_t z, uint64_t flops, uint64_t budget) {
  heed_gpu_dispatch dispatch = {.groups = {x, y, z}, .flops = flops};
  const heed_gpu_builder builder = {
      .limits = &limits, .dispatches = &dispatch, .dispatch_count = 1};
  heed_gpu_subdispatches walk = {.builder = &builder, .budget = budget};
  heed_gpu_subdispatch p;
  uint8_t seen[MOST_GROUPS] = {0};
  uint32_t count = 0;
  bool ended = false;
  while (heed_gpu_next_subdispatch(&walk, &p)) {
    assert_int_equal(p.begins, count == 0);
    assert_false(ended || p.new_stage);
    ended = p.ends;
    count++;
    const uint64_t groups = (uint64_t)p.groups[0] * p.groups[1] * p.groups[2];
    /* stays whole */
    const bool row =
        p.groups[0] == x && p.groups[1] == 1 && p.groups[2] == 1 && x == limits.groups && y * z > 1;
    assert_true(budget == 0 || groups == 1 || row ||
                (double)groups * (double)flops / ((double)x * y * z) <= (double)budget);
    for (uint32_t k = 0; k < p.groups[2]; k++)
      for (uint32_t j = 0; j < p.groups[1]; j++)
        for (uint32_t i = 0; i < p.groups[0]; i++)
          seen[((p.base[2] + k) * y + p.base[1] + j) * x + p.base[0] + i]++;
  }
  assert_true(ended);
  for (uint32_t i = 0; i < x * y * z; i++) assert_int_equal(seen[i], 1);
  return count;
}

static void test_grids(void **state) {
  (void)state;
  for (uint32_t x = 1; x <= 8; x++)
    for (uint32_t y = 1; y <= 8; y += x % 2 + 1)
      for (uint32_t z = 1; z <= 8; z += 3)
        for (uint64_t budget = 0; budget <= 1000; budget = budget * 2 + 1) {
          const uint32_t count = walk_one(x, y, z, 999, budget);
          if (budget == 0) assert_int_equal(count, 1);
        }
  assert_int_equal(walk_one(7, 1, 1, 7000, 1000), 7);
  assert_int_equal(walk_one(8, 2, 1, 16, 1), 2); /* a flat index over rows of x */
  assert_int_equal(walk_one(8, 1, 1, 16, 2), 8);
}

/* Small dispatches share a submission up to the budget; a stage begins with its first dispatch. */
static void test_breaks(void **state) {
  (void)state;
  heed_gpu_dispatch dispatches[4] = {{.groups = {4, 1, 1}, .flops = 40},
                                     {.groups = {4, 1, 1}, .flops = 40},
                                     {.groups = {4, 1, 1}, .flops = 40, .stage = 1},
                                     {.groups = {4, 1, 1}, .flops = 200, .stage = 1}};
  const heed_gpu_builder builder = {
      .limits = &limits, .dispatches = dispatches, .dispatch_count = 4};
  heed_gpu_subdispatches walk = {.builder = &builder, .budget = 100};
  static const struct {
    size_t dispatch;
    bool new_stage, breaks;
  } expected[] = {
      {0, false, false}, {1, false, false}, {2, true, true}, {3, false, true}, {3, false, true}};
  heed_gpu_subdispatch p;
  for (size_t i = 0; i < 5; i++) {
    assert_true(heed_gpu_next_subdispatch(&walk, &p));
    assert_int_equal(p.dispatch, expected[i].dispatch);
    assert_int_equal(p.new_stage, expected[i].new_stage);
    assert_int_equal(p.breaks, expected[i].breaks);
  }
  assert_false(heed_gpu_next_subdispatch(&walk, &p));
  assert_int_equal(heed_gpu_count_flops(&builder), 320);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_grids), cmocka_unit_test(test_breaks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
