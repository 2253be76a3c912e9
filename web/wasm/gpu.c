/* The planner of a WebGPU device, and its self-check. See shim.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "gpu/list_backend.h"
#include "gpu/self_check.h"
#include "shim.h"

static uint32_t begin(void *user) {
  (void)user;
  return heed_host_gpu_begin();
}

static void end(void *user, uint32_t program) {
  (void)user;
  heed_host_gpu_end(program);
}

static void make_buffer(void *user, uint32_t program, uint32_t buffer, uint64_t bytes) {
  (void)user;
  heed_host_gpu_buffer(program, buffer, (double)bytes);
}

static void add_dispatch(void *user, uint32_t program, const heed_gpu_words *words,
                         const char *shader) {
  (void)user;
  heed_host_gpu_dispatch(program, words, sizeof *words / sizeof(uint32_t), shader);
}

static void write_bytes(void *user, uint32_t program, uint32_t buffer, uint64_t offset,
                        const void *from, size_t bytes) {
  (void)user;
  heed_host_gpu_write(program, buffer, (double)offset, from, bytes);
}

static heed_status run(void *user, uint32_t program, uint32_t first, uint32_t last,
                       heed_error *error) {
  (void)user, (void)error;
  heed_host_gpu_run(program, first, last);
  return HEED_OK;
}

static heed_status read_bytes(void *user, uint32_t program, uint32_t buffer, uint64_t offset,
                              void *to, size_t bytes, heed_error *error) {
  (void)user, (void)error;
  heed_host_gpu_read(program, buffer, (double)offset, to, bytes);
  return HEED_OK;
}

heed_status heed_web_gpu_start(heed_web *web, const double *given, const char *device) {
  static const heed_gpu_list_host host = {.begin = begin,
                                          .end = end,
                                          .buffer = make_buffer,
                                          .dispatch = add_dispatch,
                                          .write = write_bytes,
                                          .run = run,
                                          .read = read_bytes};
  const struct heed_web_out_gpu_limits *of = (const void *)given;
  const heed_gpu_limits limits = {
      .cpu = of->software != 0.0,
      .software = of->software != 0.0,
      .tier = of->subgroups != 0.0 ? HEED_GPU_TIER_SUBGROUP : HEED_GPU_TIER_FLOOR,
      .vendor = (uint32_t)of->vendor,
      .lanes = (uint32_t)of->lanes,
      .least_lanes = (uint32_t)of->lanes,
      .invocations = (uint32_t)of->invocations,
      .shared = (uint32_t)of->shared,
      .groups = (uint32_t)of->groups,
      .fill = (uint32_t)of->fill,
      .bindings = (uint32_t)of->bindings,
      .range = (uint64_t)of->range,
      .buffer = (uint64_t)of->buffer,
      .alignment = HEED_ARENA_ALIGNMENT,
      .half = of->half != 0.0,
      .dot = of->dot != 0.0,
      .counts_bound = true,
      .provable_barriers = true};
  heed_backend *made;
  HEED_TRY(heed_gpu_list_backend_create(web->context, &limits, &host, device, &made, &web->error));
  heed_backend_destroy(web->backend);
  web->backend = made;
  web->defers = true;
  return HEED_OK;
}

struct heed_web_gpu_check {
  heed_web *web;
  heed_gpu_check_graph graph;
  heed_plan *plan;
  heed_session *session;
  float *expected, *found;
  bool half;
  heed_gpu_check_record record;
};

void heed_web_gpu_check_close(heed_web_gpu_check *check) {
  const heed_context *context = check->web->context;
  heed_session_destroy(check->session);
  heed_plan_destroy(check->plan);
  heed_gpu_check_graph_free(&check->graph);
  heed_free(context, check->expected);
  heed_free(context, check);
}

static heed_status start_check(heed_web_gpu_check *check, uint32_t models) {
  heed_web *web = check->web;
  heed_backend *cpu;
  uint32_t steps;
  HEED_TRY(heed_gpu_check_graph_create(web->context,
                                       models ? HEED_GPU_CHECK_GPU_MODELS : HEED_GPU_CHECK_SMALL,
                                       &check->graph, &web->error));
  const size_t count = heed_gpu_check_count(&check->graph);
  check->expected = heed_alloc_raw(web->context, count, 2 * sizeof *check->expected);
  if (!check->expected) return heed_fail_memory(&web->error, "self-check", count);
  check->found = check->expected + count;
  HEED_TRY(heed_cpu_backend_create(web->context, NULL, &cpu, &web->error));
  const heed_status status =
      heed_gpu_check_run(&check->graph, cpu, check->expected, &steps, &web->error);
  heed_backend_destroy(cpu);
  HEED_TRY(status);
  HEED_TRY(heed_plan_create(check->graph.graph, web->backend, NULL, &check->plan, &web->error));
  HEED_TRY(heed_session_create(check->plan, NULL, &check->session, &web->error));
  return heed_gpu_check_start(&check->graph, check->session, &web->error);
}

heed_status heed_web_gpu_check_create(heed_web *web, uint32_t models, uint32_t half) {
  heed_web_gpu_check *check = heed_alloc(web->context, 1, sizeof *check);
  if (!check) return heed_fail_memory(&web->error, "self-check", sizeof *check);
  check->web = web;
  check->half = half != 0;
  const heed_status status = start_check(check, models);
  if (status != HEED_OK)
    heed_web_gpu_check_close(check);
  else
    web->out.opened.address = HEED_WEB_ADDRESS(check);
  return status;
}

heed_status heed_web_gpu_check_result(heed_web *web, heed_web_gpu_check *check) {
  HEED_TRY(heed_gpu_check_read(&check->graph, check->session, check->found, &web->error));
  HEED_TRY(heed_gpu_check_judge(&check->graph, web->backend, check->found, check->expected,
                                check->half, &check->record, &web->error));
  web->out.gpu_check =
      (struct heed_web_out_gpu_check){.passed = check->record.passed,
                                      .max_error = check->record.max_error,
                                      .worst = HEED_WEB_ADDRESS(check->record.worst)};
  return HEED_OK;
}
