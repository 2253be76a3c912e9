/* Which dispatches wait: read after write, write after read, write after write; not two reads,
 * neighbours, or other places. */
#include <string.h>

#include "gpu/hazard.h"
#include "support/test.h"

static heed_gpu_dispatch touches(heed_gpu_place place, uint64_t offset, uint64_t bytes,
                                 bool written) {
  heed_gpu_dispatch dispatch = {.binding_count = 1};
  dispatch.binding[0] =
      (heed_gpu_range){.place = place, .offset = offset, .bytes = bytes, .written = written};
  return dispatch;
}

static bool waits(heed_gpu_dispatch first, heed_gpu_dispatch second) {
  heed_gpu_hazards hazards = {.count = 0};
  assert_false(heed_gpu_hazards_meet(&hazards, &first));
  return heed_gpu_hazards_meet(&hazards, &second);
}

static void test_pairs(void **state) {
  (void)state;
  const heed_gpu_dispatch read = touches(HEED_GPU_ARENA, 256, 100, false),
                          write = touches(HEED_GPU_ARENA, 256, 100, true);
  assert_true(waits(write, read));
  assert_true(waits(read, write));
  assert_true(waits(write, write));
  assert_false(waits(read, read));
  assert_true(waits(write, touches(HEED_GPU_ARENA, 355, 1, false)));
  assert_false(waits(write, touches(HEED_GPU_ARENA, 356, 1, false)));
  assert_true(waits(write, touches(HEED_GPU_ARENA, 0, 257, false)));
  assert_false(waits(write, touches(HEED_GPU_ARENA, 0, 256, true)));
  assert_false(waits(write, touches(HEED_GPU_SCRATCH, 256, 100, true)));
  assert_true(waits(touches(HEED_GPU_SCRATCH, 0, 8, true), touches(HEED_GPU_SCRATCH, 4, 8, false)));
  assert_false(
      waits(touches(HEED_GPU_WEIGHTS, 0, 8, false), touches(HEED_GPU_WEIGHTS, 0, 8, false)));
  assert_false(waits(touches(HEED_GPU_NOWHERE, 0, 0, true), touches(HEED_GPU_NOWHERE, 0, 0, true)));
}

/* A barrier orders all that came before it, and nothing after. */
static void test_barrier_forgets(void **state) {
  (void)state;
  heed_gpu_hazards hazards = {.count = 0};
  const heed_gpu_dispatch a = touches(HEED_GPU_ARENA, 0, 16, true),
                          b = touches(HEED_GPU_ARENA, 16, 16, true),
                          read_a = touches(HEED_GPU_ARENA, 0, 16, false),
                          read_b = touches(HEED_GPU_ARENA, 16, 16, false);
  assert_false(heed_gpu_hazards_meet(&hazards, &a));
  assert_false(heed_gpu_hazards_meet(&hazards, &b));
  assert_true(heed_gpu_hazards_meet(&hazards, &read_a));
  assert_false(heed_gpu_hazards_meet(&hazards, &read_b));
  assert_true(heed_gpu_hazards_meet(&hazards, &a));
  assert_false(heed_gpu_hazards_meet(&hazards, &read_b));
}

/* When no more can be remembered, the next one waits and the list begins again. */
static void test_full(void **state) {
  (void)state;
  heed_gpu_hazards hazards = {.count = 0};
  for (uint32_t i = 0; i < HEED_GPU_MOST_TOUCHED; i++) {
    const heed_gpu_dispatch next = touches(HEED_GPU_ARENA, i * 16, 16, true);
    assert_false(heed_gpu_hazards_meet(&hazards, &next));
  }
  const heed_gpu_dispatch more = touches(HEED_GPU_ARENA, 1 << 20, 16, true),
                          first = touches(HEED_GPU_ARENA, 0, 16, false);
  assert_true(heed_gpu_hazards_meet(&hazards, &more));
  assert_false(heed_gpu_hazards_meet(&hazards, &first));
  assert_int_equal(hazards.count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_barrier_forgets),
                                     cmocka_unit_test(test_full)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
