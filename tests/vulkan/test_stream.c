/* Streams of runs, on the CPU and on Vulkan: results in order and with the bits of single runs,
 * errors for each item, nothing allocated while items are in flight. */
#include <stdio.h>
#include <string.h>

#include "vulkan/vulkan_test.h"

enum { ITEMS = 7, Z_SIZE = 5 * 70 };

typedef struct item {
  float x[VULKAN_TEST_SIZE], y[VULKAN_TEST_SIZE], z[Z_SIZE];
} item;

static void open_program(vulkan_program *program, const heed_vulkan_desc *desc) {
  heed_error error;
  if (desc) {
    assert_ok(vulkan_program_open(program, desc, &error));
    return;
  }
  assert_ok(heed_cpu_backend_create(program->context, NULL, &program->backend, &error));
  assert_ok(heed_plan_create(program->graph, program->backend, NULL, &program->plan, &error));
  assert_ok(heed_session_create(program->plan, NULL, &program->session, &error));
}

static heed_status open_stream(vulkan_program *program, uint32_t in_flight, heed_stream **stream,
                               heed_error *error) {
  const heed_value outputs[] = {program->z, program->y};
  const heed_stream_desc desc = {sizeof desc, in_flight, &program->x, 1, outputs, 2};
  return heed_stream_create(program->session, &desc, stream, error);
}

static void make_items(vulkan_program *program, item items[ITEMS]) {
  for (int i = 0; i < ITEMS; i++)
    for (int k = 0; k < VULKAN_TEST_SIZE; k++)
      items[i].x[k] = program->input[(k + 31 * i) % VULKAN_TEST_SIZE];
}

/* One by one. */
static void run_singly(vulkan_program *program, item items[ITEMS]) {
  heed_error error;
  make_items(program, items);
  for (int i = 0; i < ITEMS; i++) {
    memcpy(program->input, items[i].x, sizeof items[i].x);
    assert_ok(vulkan_program_run(program, NULL, &error));
    memcpy(items[i].y, program->y_found, sizeof items[i].y);
    memcpy(items[i].z, program->z_found, sizeof items[i].z);
  }
}

static heed_status collect(heed_stream *stream, const item *expected, heed_error *error) {
  item found;
  memset(&found, 0xFF, sizeof found);
  void *const outputs[] = {found.z, found.y};
  const heed_status status = heed_stream_collect(stream, outputs, error);
  if (status != HEED_OK) return status;
  assert_memory_equal(found.y, expected->y, sizeof found.y);
  assert_memory_equal(found.z, expected->z, sizeof found.z);
  return HEED_OK;
}

static void submit(heed_stream *stream, const item *from) {
  heed_error error;
  const void *const inputs[] = {from->x};
  assert_ok(heed_stream_submit(stream, inputs, &error));
}

static void stream_right(const heed_vulkan_desc *desc, uint32_t in_flight) {
  heed_error error;
  vulkan_program program;
  test_allocator allocator = {0, 0, 0};
  heed_context_desc context = test_context_desc(&allocator);
  item items[ITEMS];
  heed_stream *stream;
  vulkan_program_start(&program, &context);
  open_program(&program, desc);
  run_singly(&program, items);
  assert_ok(open_stream(&program, in_flight, &stream, &error));
  const size_t total = allocator.total;
  for (uint32_t i = 0; i < ITEMS + in_flight; i++) {
    if (i >= in_flight) assert_ok(collect(stream, &items[i - in_flight], &error));
    if (i < ITEMS) submit(stream, &items[i]);
  }
  assert_int_equal(allocator.total, total);
  memcpy(program.input, items[0].x, sizeof program.input);
  assert_ok(vulkan_program_run(&program, NULL, &error)); /* the session itself again */
  assert_memory_equal(program.z_found, items[0].z, sizeof items[0].z);
  submit(stream, &items[1]);
  heed_stream_destroy(stream); /* with an item in flight */
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_end(&program);
  assert_int_equal(allocator.live, 0);
}

static void test_cpu(void **state) {
  (void)state;
  stream_right(NULL, 1);
  stream_right(NULL, 3);
}

static void test_vulkan(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  for (uint32_t in_flight = 1; in_flight <= 3; in_flight++) stream_right(&desc, in_flight);
  played.force_staging = true;
  played.submit_flops = 500;
  stream_right(&desc, 2);
}

static void check_misuse(const heed_vulkan_desc *desc) {
  heed_error error;
  vulkan_program program;
  heed_stream *stream, *other;
  item items[ITEMS];
  vulkan_program_start(&program, NULL);
  make_items(&program, items);
  open_program(&program, desc);
  assert_fails(open_stream(&program, 9, &stream, &error), HEED_INVALID_ARGUMENT,
               "too many runs in flight (found 9, expected at most 8)");
  assert_null(stream);
  const heed_stream_desc wrong_in = {sizeof wrong_in, 2, &program.y, 1, NULL, 0},
                         wrong_out = {sizeof wrong_out, 2, NULL, 0, &(heed_value){100}, 1};
  assert_fails(heed_stream_create(program.session, &wrong_in, &stream, &error),
               HEED_INVALID_ARGUMENT, "is not an input (found a computed value");
  assert_fails(heed_stream_create(program.session, &wrong_out, &stream, &error),
               HEED_INVALID_ARGUMENT, "unknown value (found id 100");
  assert_ok(open_stream(&program, 0, &stream, &error));
  assert_ok(open_stream(&program, 2, &other, &error));
  assert_fails(collect(stream, &items[0], &error), HEED_INVALID_ARGUMENT, "no run to collect");
  const void *const nothing[] = {NULL};
  assert_fails(heed_stream_submit(stream, nothing, &error), HEED_INVALID_ARGUMENT,
               "input 0 is NULL");
  submit(stream, &items[0]);
  submit(stream, &items[1]);
  const void *const inputs[] = {items[2].x};
  assert_fails(heed_stream_submit(stream, inputs, &error), HEED_INVALID_ARGUMENT,
               "full; collect a run first (found 2");
  assert_fails(heed_stream_submit(other, inputs, &error), HEED_INVALID_ARGUMENT, "another stream");
  assert_fails(heed_session_run(program.session, NULL, &error), HEED_INVALID_ARGUMENT,
               "stream has runs in flight (found 2");
  assert_fails(
      heed_session_write(program.session, program.x, items[0].x, sizeof items[0].x, &error),
      HEED_INVALID_ARGUMENT, "in flight");
  assert_fails(heed_session_read(program.session, program.y, 0, 1, items[0].y, &error),
               HEED_INVALID_ARGUMENT, "in flight");
  heed_stream_destroy(stream);
  assert_ok(heed_stream_submit(other, inputs, &error));
  void *const skipped[] = {NULL, NULL};
  assert_ok(heed_stream_collect(other, skipped, &error));
  heed_stream_destroy(other);
  heed_stream_destroy(NULL);
  vulkan_program_end(&program);
}

static void test_misuse(void **state) {
  (void)state;
  check_misuse(NULL);
  vulkan_test_need_device();
  const heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  check_misuse(&desc);
}

/* Lost at item `lost`: those before it are whole, it and those after it say so. */
static void lose_item(int lost) {
  heed_error error;
  vulkan_program program;
  heed_stream *stream;
  item items[ITEMS];
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  vulkan_program_start(&program, NULL);
  open_program(&program, &desc);
  const uint32_t before = heed_vulkan_submission_count(program.backend);
  run_singly(&program, items);
  vulkan_program_close(&program);
  played.lose_at_submit = before + (uint32_t)lost + 1;
  open_program(&program, &desc);
  assert_ok(open_stream(&program, 2, &stream, &error));
  for (int i = 0; i < ITEMS + 2; i++) {
    if (i >= 2 && i - 2 < lost)
      assert_ok(collect(stream, &items[i - 2], &error));
    else if (i >= 2)
      assert_fails(collect(stream, &items[i - 2], &error), HEED_DEVICE_LOST, "lost");
    if (i < ITEMS) submit(stream, &items[i]);
  }
  heed_stream *another;
  assert_fails(open_stream(&program, 2, &another, &error), HEED_DEVICE_LOST, "new backend");
  heed_stream_destroy(stream);
  vulkan_program_close(&program);
  played.lose_at_submit = 0;
  open_program(&program, &desc);
  assert_ok(open_stream(&program, 2, &stream, &error));
  submit(stream, &items[0]);
  assert_ok(collect(stream, &items[0], &error));
  heed_stream_destroy(stream);
  vulkan_program_end(&program);
}

static void test_device_lost(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int lost = 0; lost < ITEMS; lost++) lose_item(lost);
}

/* Each allocation fails once, of the host and of the device: a status, nothing left behind. */
static void fail_each(const heed_vulkan_desc *desc) {
  heed_error error;
  vulkan_program program;
  test_allocator allocator = {0, 0, 0};
  heed_context_desc context = test_context_desc(&allocator);
  vulkan_program_start(&program, &context);
  open_program(&program, desc);
  heed_stream *stream;
  heed_status status = HEED_OUT_OF_MEMORY;
  uint32_t failures = 0;
  for (size_t n = 1; n < 200 && status != HEED_OK; n++) {
    const size_t live = allocator.live;
    allocator.fail_at = allocator.total + n;
    status = open_stream(&program, 2, &stream, &error);
    allocator.fail_at = 0;
    if (status == HEED_OK) break;
    assert_int_equal(status, HEED_OUT_OF_MEMORY);
    assert_null(stream);
    assert_int_equal(allocator.live, live);
    failures++;
  }
  assert_int_equal(status, HEED_OK);
  assert_true(failures >= 3);
  heed_stream_destroy(stream);
  vulkan_program_end(&program);
}

static void test_memory(void **state) {
  (void)state;
  fail_each(NULL);
  vulkan_test_need_device();
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  fail_each(&desc);
  heed_error error;
  vulkan_program program;
  heed_stream *stream;
  heed_memory memory;
  vulkan_program_start(&program, NULL);
  open_program(&program, &desc);
  heed_plan_memory(program.plan, &memory);
  vulkan_program_close(&program);
  desc.memory_budget = memory.weights + memory.arena + 4096; /* room for the program and a slot */
  open_program(&program, &desc);
  assert_fails(open_stream(&program, 8, &stream, &error), HEED_OUT_OF_DEVICE_MEMORY,
               "not enough device memory");
  vulkan_program_end(&program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cpu),    cmocka_unit_test(test_vulkan),
      cmocka_unit_test(test_misuse), cmocka_unit_test(test_device_lost),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
