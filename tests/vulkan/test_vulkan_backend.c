/* The Vulkan backend on its own: devices, memory with and without staging, faults, hooks, the same
 * bits twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_test.h"

static void test_devices(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_device_info infos[4];
  uint32_t count = 4;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_device_list(context, infos, &count, &error));
  assert_true(count >= 1);
  assert_true(infos[0].name[0] != '\0');
  assert_true(infos[0].api_major >= 1);
  assert_true(infos[0].subgroup_size >= 1);
  assert_true(infos[0].max_storage_range >= (1u << 27));
  heed_backend *backend;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.device = (int32_t)count;
  assert_fails(heed_vulkan_backend_create(context, &desc, &backend, &error), HEED_NO_DEVICE,
               "out of range (found");
  assert_null(backend);
  desc.device = -1;
  const size_t refused[] = {0, 3, sizeof desc + 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    desc.struct_size = refused[i];
    assert_fails(heed_vulkan_backend_create(context, &desc, &backend, &error),
                 HEED_INVALID_ARGUMENT, "vulkan: struct_size");
  }
  heed_vulkan_check check;
  assert_fails(heed_vulkan_self_check(context, &desc, &check, &error), HEED_INVALID_ARGUMENT,
               "vulkan: struct_size");
  heed_context_destroy(context);
}

/* A desc that ends before `memory_budget`, with bytes behind it that would refuse every allocation;
 * and one with fields that are not known. */
static void test_descs_of_other_versions(void **state) {
  (void)state;
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  struct {
    heed_vulkan_desc desc;
    size_t more[2];
  } newer = {HEED_VULKAN_DESC_INIT, {0, 0}};
  heed_vulkan_desc older = HEED_VULKAN_DESC_INIT;
  older.struct_size = offsetof(heed_vulkan_desc, memory_budget) / sizeof(size_t) * sizeof(size_t);
  older.memory_budget = 1;
  newer.desc.struct_size = sizeof newer;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_backend_create(context, &older, &backend, &error));
  heed_backend_destroy(backend);
  assert_ok(heed_vulkan_backend_create(context, &newer.desc, &backend, &error));
  heed_backend_destroy(backend);
  newer.more[1] = 1;
  assert_fails(heed_vulkan_backend_create(context, &newer.desc, &backend, &error),
               HEED_INVALID_ARGUMENT, "vulkan: struct_size has fields");
  heed_context_destroy(context);
}

static void run_right(const heed_vulkan_desc *desc) {
  heed_error error;
  vulkan_program program;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, desc, &error));
  assert_string_equal(heed_backend_name(program.backend), "vulkan");
  for (int i = 0; i < 3; i++) {
    memset(program.y_found, 0xFF, sizeof program.y_found);
    assert_ok(vulkan_program_run(&program, NULL, &error));
    vulkan_program_check(&program);
  }
  vulkan_program_end(&program);
}

static void test_memory(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  run_right(&desc);
  played.force_staging = true;
  run_right(&desc);
}

/* Weights in fp16, which are exact here: as texels and as words, in kernels for a software device
 * and for a GPU. */
static void test_precision(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  run_right(&desc);
  heed_error error;
  vulkan_program program;
  vulkan_program_start(&program, NULL);
  /* cooperative matrices have x in fp16 too: test_vulkan_matrix.c */
  heed_vulkan_device_info info;
  uint32_t count = 1;
  assert_ok(heed_vulkan_device_list(program.context, &info, &count, &error));
  desc.tier = info.tier < HEED_VULKAN_TIER_HALF ? info.tier : HEED_VULKAN_TIER_HALF;
  played.gpu_kernels = true;
  run_right(&desc);
  program.weight[77] = -65520.0f;
  assert_fails(vulkan_program_open(&program, &desc, &error), HEED_UNSUPPORTED,
               "overflows fp16 (found -65520");
  program.weight[77] = -65519.0f; /* rounds to -65504 */
  vulkan_program_close(&program);
  assert_ok(vulkan_program_open(&program, &desc, &error));
  assert_non_null(strstr(heed_backend_device(program.backend), "fp16"));
  vulkan_program_end(&program);
}

/* A weight past the largest buffer is read in parts; a plan whose panel is larger than that is
 * refused. A device that has no more than the floor gives the same numbers. */
static void test_limits(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  played.floor = played.gpu_kernels = true;
  run_right(&desc);
  played = (heed_vulkan_test){0};
  played.range_limit = 4 * 60 * 64; /* one panel of the two that 70 columns take for a GPU */
  played.gpu_kernels = true;
  run_right(&desc);
  played.range_limit = 4 * 60 * 15;
  vulkan_program_start(&program, NULL);
  assert_fails(vulkan_program_open(&program, &desc, &error), HEED_UNSUPPORTED,
               "linear: tensor exceeds the largest buffer of this device");
  vulkan_program_end(&program);
}

/* Every tier up to the device's own gives the right numbers, by the kernels of a GPU; one above it
 * is refused. */
static void test_tiers(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_device_info info;
  heed_backend *backend;
  uint32_t count = 1;
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_device_list(context, &info, &count, &error));
  assert_true(info.tier >= HEED_VULKAN_TIER_FLOOR && info.tier <= HEED_VULKAN_TIER_COOPERATIVE_2);
  played.gpu_kernels = true;
  for (desc.tier = HEED_VULKAN_TIER_FLOOR; desc.tier <= info.tier; desc.tier++) run_right(&desc);
  if (heed_vulkan_tier_name(desc.tier))
    assert_fails(heed_vulkan_backend_create(context, &desc, &backend, &error), HEED_UNSUPPORTED,
                 "tier");
  desc.tier = (heed_vulkan_tier)99;
  assert_fails(heed_vulkan_backend_create(context, &desc, &backend, &error), HEED_INVALID_ARGUMENT,
               "tier");
  heed_context_destroy(context);
}

/* Two sessions of one plan, run by turns, share pipelines and nothing else. */
static void test_same_bits(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  float first[VULKAN_TEST_SIZE];
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, NULL, &error));
  assert_ok(vulkan_program_run(&program, NULL, &error));
  memcpy(first, program.y_found, sizeof first);
  heed_session *other;
  assert_ok(heed_session_create(program.plan, NULL, &other, &error));
  heed_session *mine = program.session;
  program.session = other;
  assert_ok(vulkan_program_run(&program, NULL, &error));
  assert_memory_equal(first, program.y_found, sizeof first);
  program.session = mine;
  assert_ok(vulkan_program_run(&program, NULL, &error));
  assert_memory_equal(first, program.y_found, sizeof first);
  heed_session_destroy(other);
  vulkan_program_end(&program);
}

/* An input that was never written is zero. */
static void test_unwritten_input(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, NULL, &error));
  assert_ok(heed_session_run(program.session, NULL, &error));
  assert_ok(
      heed_session_read(program.session, program.y, 0, VULKAN_TEST_SIZE, program.y_found, &error));
  memset(program.input, 0, sizeof program.input);
  assert_ok(heed_session_read(program.session, program.z, 0, 5 * 70, program.z_found, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
}

static double no_time(void *user) {
  (void)user;
  return 0.0;
}

/* Every step's time by the device's clock, and results as of any other run; a loss on the way is
 * told. */
static void test_profile(void **state) {
  (void)state;
  vulkan_test_need_device();
  const heed_clock clock = {no_time, NULL};
  heed_error error;
  vulkan_program program;
  heed_step_time times[8];
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  heed_status status = HEED_DEVICE_LOST;
  for (played.lose_at_submit = 1; status != HEED_OK && played.lose_at_submit < 20;
       played.lose_at_submit++) {
    vulkan_program_start(&program, NULL);
    status = vulkan_program_open(&program, &desc, &error);
    if (status == HEED_OK) assert_int_equal(heed_plan_step_count(program.plan), 4);
    if (status == HEED_OK)
      assert_fails(heed_session_profile(program.session, NULL, times, &error),
                   HEED_INVALID_ARGUMENT, "clock");
    if (status == HEED_OK)
      status = heed_session_write(program.session, program.x, program.input, sizeof program.input,
                                  &error);
    if (status == HEED_OK) status = heed_session_profile(program.session, &clock, times, &error);
    assert_true(status == HEED_OK || status == HEED_DEVICE_LOST);
    if (status != HEED_OK) vulkan_program_end(&program);
  }
  assert_ok(status);
  double sum = 0.0;
  for (uint32_t i = 0; i < 4; i++) {
    heed_plan_step step;
    heed_plan_step_info(program.plan, i, &step);
    assert_int_equal(times[i].dispatches, step.dispatches);
    assert_int_equal(step.dispatches, 1);
    assert_true(times[i].microseconds >= 0.0 && times[i].microseconds < 1e8);
    sum += times[i].microseconds;
  }
  assert_true(sum > 0.0);
  assert_ok(
      heed_session_read(program.session, program.y, 0, VULKAN_TEST_SIZE, program.y_found, &error));
  assert_ok(heed_session_read(program.session, program.z, 0, 5 * 70, program.z_found, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
}

/* What the device does at best, whatever memory it may take for that; a loss on the way is told. */
static void test_ceiling(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  heed_vulkan_ceiling ceiling;
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  vulkan_program_start(&program, NULL);
  assert_fails(heed_vulkan_measure_ceiling(NULL, &ceiling, &error), HEED_INVALID_ARGUMENT,
               "no Vulkan backend");
  played.memory_limit = (uint64_t)12 << 20; /* not enough for a copy of the usual size */
  assert_ok(heed_vulkan_backend_create(program.context, &desc, &program.backend, &error));
  assert_ok(heed_vulkan_measure_ceiling(program.backend, &ceiling, &error));
  assert_true(ceiling.f32_gflops > 0.01 && ceiling.f32_gflops < 1e7);
  assert_true(ceiling.f16_gflops == 0.0 || (ceiling.f16_gflops > 0.01 && ceiling.f16_gflops < 1e7));
  assert_true(ceiling.matrix_gflops == 0.0); /* weights are in fp32 */
  assert_true(ceiling.copy_gbs > 0.01 && ceiling.copy_gbs < 1e5);
  vulkan_program_close(&program);
  played.memory_limit = 0;
  played.lose_at_submit = 2;
  assert_ok(heed_vulkan_backend_create(program.context, &desc, &program.backend, &error));
  assert_fails(heed_vulkan_measure_ceiling(program.backend, &ceiling, &error), HEED_DEVICE_LOST,
               "lost");
  assert_fails(heed_vulkan_measure_ceiling(program.backend, &ceiling, &error), HEED_DEVICE_LOST,
               "new backend");
  vulkan_program_end(&program);
}

typedef struct waited {
  uint32_t calls, total;
} waited;

static void count_stages(const char *phase, uint64_t done, uint64_t total, void *user) {
  waited *w = user;
  if (strcmp(phase, "run") != 0) return;
  w->calls++;
  w->total = (uint32_t)total;
  assert_int_equal(done, w->calls);
}

/* A run cut into submissions gives the same numbers, with hooks and under a clock too, and a loss
 * in the midst of it is told. */
static void test_submissions(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  played.submit_flops = 500;
  run_right(&desc);
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, &desc, &error));
  uint32_t before = heed_vulkan_submission_count(program.backend);
  assert_ok(heed_session_run(program.session, NULL, &error));
  const uint32_t submissions = heed_vulkan_submission_count(program.backend) - before;
  assert_true(submissions > 4);
  waited w = {0, 0};
  const heed_hooks hooks = {sizeof hooks, count_stages, NULL, &w};
  assert_ok(vulkan_program_run(&program, &hooks, &error));
  assert_int_equal(w.calls, 3);
  assert_int_equal(w.total, 3);
  vulkan_program_check(&program);
  heed_step_time times[8];
  const heed_clock clock = {no_time, NULL};
  assert_ok(heed_session_profile(program.session, &clock, times, &error));
  before = heed_vulkan_submission_count(program.backend);
  vulkan_program_close(&program);
  played.lose_at_submit = before - submissions / 2;
  heed_status status = vulkan_program_open(&program, &desc, &error);
  for (int i = 0; status == HEED_OK && i < 4; i++)
    status = vulkan_program_run(&program, NULL, &error);
  assert_int_equal(status, HEED_DEVICE_LOST);
  vulkan_program_end(&program);
}

/* Lost at submission n: creating or running says so, every later call says so, destroying works; a
 * new backend works. */
static void test_device_lost(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (uint32_t n = 1; n <= 4; n++) {
    heed_error error;
    vulkan_program program;
    heed_vulkan_test played = {0};
    heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
    desc.test = &played;
    played.lose_at_submit = n;
    vulkan_program_start(&program, NULL);
    heed_status status = vulkan_program_open(&program, &desc, &error);
    for (uint32_t i = 0; i < n && status == HEED_OK; i++)
      status = vulkan_program_run(&program, NULL, &error);
    assert_int_equal(status, HEED_DEVICE_LOST);
    assert_non_null(strstr(error.message, "lost"));
    if (program.session) {
      assert_fails(vulkan_program_run(&program, NULL, &error), HEED_DEVICE_LOST, "new backend");
      assert_fails(heed_session_read(program.session, program.y, 0, 1, program.y_found, &error),
                   HEED_DEVICE_LOST, "new backend");
    }
    heed_session *another;
    if (program.plan)
      assert_fails(heed_session_create(program.plan, NULL, &another, &error), HEED_DEVICE_LOST,
                   "new backend");
    vulkan_program_close(&program);
    assert_ok(vulkan_program_open(&program, NULL, &error));
    assert_ok(vulkan_program_run(&program, NULL, &error));
    vulkan_program_check(&program);
    vulkan_program_end(&program);
  }
}

/* Every limit from none to enough gives OUT_OF_DEVICE_MEMORY and leaves nothing behind; then it
 * works. */
static void test_device_memory(void **state) {
  (void)state;
  vulkan_test_need_device();
  bool worked = false, failed = false;
  for (uint64_t limit = 1; limit < (uint64_t)1 << 28 && !worked; limit *= 8) {
    for (int staging = 0; staging < 2; staging++) {
      heed_error error;
      vulkan_program program;
      heed_vulkan_test played = {0};
      heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
      desc.test = &played;
      played.memory_limit = limit;
      played.force_staging = staging == 1;
      vulkan_program_start(&program, NULL);
      const heed_status status = vulkan_program_open(&program, &desc, &error);
      if (status == HEED_OK) {
        assert_ok(vulkan_program_run(&program, NULL, &error));
        vulkan_program_check(&program);
        worked = staging == 1;
      } else {
        failed = true;
        assert_int_equal(status, HEED_OUT_OF_DEVICE_MEMORY);
      }
      vulkan_program_end(&program);
    }
  }
  assert_true(failed && worked);
}

/* A budget of memory: past it a sentence with both numbers before anything is allocated; staging
 * gets by with less. */
static void test_memory_budget(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.memory_budget = 10000;
  played.memory_limit = 1; /* the driver is not even asked */
  vulkan_program_start(&program, NULL);
  assert_fails(vulkan_program_open(&program, &desc, &error), HEED_OUT_OF_DEVICE_MEMORY,
               "not enough device memory on");
  assert_non_null(strstr(error.message, "(found 10000 bytes, expected "));
  vulkan_program_end(&program);
  played.memory_limit = 0;
  desc.memory_budget = (uint64_t)1 << 20; /* less than staging likes */
  run_right(&desc);
  played.force_staging = true;
  run_right(&desc);
  desc.memory_budget = 60000; /* room for the program and not for staging */
  vulkan_program_start(&program, NULL);
  assert_fails(vulkan_program_open(&program, &desc, &error), HEED_OUT_OF_DEVICE_MEMORY,
               "not enough device memory on");
  vulkan_program_end(&program);
}

/* Each allocation of the host fails once: a status, no leak. */
static void test_host_memory(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  test_allocator allocator = {0, 0, 0};
  heed_context_desc context = test_context_desc(&allocator);
  vulkan_program program;
  vulkan_program_start(&program, &context);
  const size_t before = allocator.live;
  heed_status status = HEED_OUT_OF_MEMORY;
  uint32_t failures = 0;
  for (size_t n = 1; n < 200 && status != HEED_OK; n++) {
    allocator.fail_at = allocator.total + n;
    status = vulkan_program_open(&program, NULL, &error);
    allocator.fail_at = 0;
    if (status != HEED_OK) {
      failures++;
      assert_int_equal(status, HEED_OUT_OF_MEMORY);
      vulkan_program_close(&program);
      assert_int_equal(allocator.live, before);
    }
  }
  assert_int_equal(status, HEED_OK);
  assert_true(failures > 5);
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
  assert_int_equal(allocator.live, 0);
}

typedef struct heard {
  uint64_t calls, done, total, stop_after;
  bool backwards;
  const char *phase; /* NULL: run */
} heard;

static void hear(const char *phase, uint64_t done, uint64_t total, void *user) {
  heard *h = user;
  if (strcmp(phase, h->phase ? h->phase : "run") != 0) return;
  h->calls++;
  h->backwards = h->backwards || done <= h->done || done > total;
  h->done = done;
  h->total = total;
}

static bool stop(void *user) {
  const heard *h = user;
  return h->stop_after && h->done >= h->stop_after;
}

static void test_hooks(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, NULL, &error));
  heard h = {0, 0, 0, 0, false};
  const heed_hooks hooks = {sizeof hooks, hear, stop, &h};
  assert_ok(vulkan_program_run(&program, &hooks, &error));
  vulkan_program_check(&program);
  assert_int_equal(h.calls, 3);
  assert_int_equal(h.total, 3);
  assert_false(h.backwards);
  h = (heard){0, 0, 0, 1, false};
  assert_fails(vulkan_program_run(&program, &hooks, &error), HEED_CANCELLED, "cancel");
  assert_int_equal(h.done, 1);
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
}

/* The first session tells how many pipelines there are and have been made; the second makes none.
 */
static void test_pipelines_progress(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  vulkan_program_start(&program, NULL);
  const heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  assert_ok(heed_vulkan_backend_create(program.context, &desc, &program.backend, &error));
  assert_ok(heed_plan_create(program.graph, program.backend, NULL, &program.plan, &error));
  heard h = {.phase = "pipelines"};
  const heed_hooks hooks = {sizeof hooks, hear, NULL, &h};
  assert_ok(heed_session_create(program.plan, &hooks, &program.session, &error));
  assert_true(h.calls > 0);
  assert_true(h.total >= 4); /* of four ops */
  assert_int_equal(h.done, h.total);
  assert_false(h.backwards);
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  heed_session *second;
  h = (heard){.phase = "pipelines"};
  assert_ok(heed_session_create(program.plan, &hooks, &second, &error));
  assert_int_equal(h.calls, 0);
  heed_session_destroy(second);
  vulkan_program_end(&program);
}

static void test_prediction(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  heed_memory memory;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, NULL, &error));
  heed_plan_memory(program.plan, &memory);
  assert_true(memory.weights >= 4 * (60 + 60 + 70 * 60));
  assert_true(memory.arena >= 4 * (300 + 350));
  vulkan_program_end(&program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_descs_of_other_versions),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_device_lost),
      cmocka_unit_test(test_device_memory),
      cmocka_unit_test(test_host_memory),
      cmocka_unit_test(test_hooks),
      cmocka_unit_test(test_pipelines_progress),
      cmocka_unit_test(test_prediction),
      cmocka_unit_test(test_profile),
      cmocka_unit_test(test_precision),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_unwritten_input),
      cmocka_unit_test(test_tiers),
      cmocka_unit_test(test_ceiling),
      cmocka_unit_test(test_submissions),
      cmocka_unit_test(test_memory_budget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
