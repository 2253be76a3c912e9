/* See list_backend.h. Results stay where the host has them until somebody reads them. */
#include "gpu/list_backend.h"

#include <stdio.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/hooks.h"
#include "base/status.h"
#include "gpu/dispatch_list.h"
#include "gpu/dispatch_summary.h"
#include "gpu/op.h"
#include "gpu/weight_packing.h"
#include "gpu/weight_upload.h"

#define PARAMETER_BYTES 256 /* of a dispatch, as a host lays them out */

typedef struct list_backend {
  heed_backend base;
  heed_gpu_limits limits;
  heed_gpu_list_host host;
} list_backend;

struct heed_program {
  list_backend *backend;
  const heed_plan *plan;
  uint32_t number;
  uint32_t *ends; /* [step_count] dispatches up to the end of a step */
};

/* ---- plans */

static const heed_gpu_limits *limits_of(const heed_backend *backend) {
  return &((const list_backend *)backend)->limits;
}

static heed_plan_banks banks(const heed_backend *backend) {
  return (heed_plan_banks){HEED_MOST_BANKS, limits_of(backend)->buffer};
}

static heed_status supports(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                            heed_error *error) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  const heed_status status = heed_gpu_builder_node(&builder, node, error);
  heed_gpu_builder_end(&builder);
  return status;
}

static heed_status measure(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                           heed_error *error) {
  heed_gpu_builder builder;
  heed_gpu_buffers buffers;
  const uint64_t most = limits_of(backend)->buffer;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  heed_status status = heed_gpu_builder_plan(&builder, error);
  heed_gpu_buffers_measure(&builder, &buffers);
  if (status == HEED_OK && most) status = heed_gpu_buffers_fit(&buffers, most, error);
  memory->weights = 0;
  for (size_t i = 0; i < builder.block_count; i++) memory->weights += builder.blocks[i];
  memory->workspace = heed_gpu_workspace_bytes(&buffers) +
                      builder.dispatch_count * PARAMETER_BYTES +
                      (builder.weight_count ? heed_gpu_pack_bytes(&builder) : 0);
  heed_gpu_builder_end(&builder);
  return status;
}

static void describe(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                     heed_plan_step *step) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits_of(backend));
  if (heed_gpu_builder_node(&builder, node, NULL) == HEED_OK) {
    step->dispatches = (uint32_t)builder.dispatch_count;
    step->kernel_count = heed_gpu_list_kernels(&builder, step->kernel, HEED_STEP_KERNELS);
  }
  heed_gpu_builder_end(&builder);
}

static heed_attention_mode mode(const heed_backend *backend, const heed_plan *plan,
                                const heed_node *node) {
  return heed_gpu_ops[node->op]->mode(limits_of(backend), plan, node);
}

/* ---- programs */

static heed_status put(void *user, uint32_t block, uint64_t offset, const void *from, size_t bytes,
                       heed_error *error) {
  const heed_program *program = user;
  const heed_gpu_list_host *host = &program->backend->host;
  (void)error;
  host->write(host->user, program->number, heed_gpu_block_buffer(program->plan, block), offset,
              from, bytes);
  return HEED_OK;
}

static void hand_over(heed_program *program, const heed_gpu_builder *builder) {
  const heed_gpu_list_host *host = &program->backend->host;
  heed_gpu_buffers buffers;
  heed_gpu_words words;
  heed_gpu_buffers_measure(builder, &buffers);
  for (uint32_t i = 0; i < heed_gpu_buffer_count(&buffers); i++)
    host->buffer(host->user, program->number, i, heed_gpu_buffer_bytes(&buffers, i));
  for (size_t i = 0; i < builder->dispatch_count; i++) {
    const heed_gpu_dispatch *dispatch = &builder->dispatches[i];
    heed_gpu_write_words(&buffers, i, &words);
    host->dispatch(host->user, program->number, &words, heed_gpu_shader_name(dispatch->shader));
    program->ends[dispatch->step] = (uint32_t)i + 1;
  }
  for (uint32_t step = 1; step < program->plan->step_count; step++)
    if (!program->ends[step]) program->ends[step] = program->ends[step - 1];
}

static void program_destroy(heed_program *program) {
  if (!program) return;
  const heed_gpu_list_host *host = &program->backend->host;
  if (program->number) host->end(host->user, program->number);
  heed_free(program->plan->context, program->ends);
  heed_free(program->plan->context, program);
}

static heed_status program_create(heed_backend *base, const heed_plan *plan,
                                  const heed_hooks *hooks, heed_program **result,
                                  heed_error *error) {
  list_backend *backend = (list_backend *)base;
  heed_program *program = heed_alloc(plan->context, 1, sizeof *program);
  if (!program) return heed_fail_memory(error, "webgpu: program", sizeof *program);
  *program = (heed_program){.backend = backend, .plan = plan};
  program->ends = heed_alloc(plan->context, plan->step_count, sizeof *program->ends);
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, &backend->limits);
  heed_status status = program->ends ? heed_gpu_builder_plan(&builder, error)
                                     : heed_fail_memory(error, "webgpu: program",
                                                        plan->step_count * sizeof *program->ends);
  if (status == HEED_OK) {
    program->number = backend->host.begin(backend->host.user);
    hand_over(program, &builder);
    status = heed_gpu_upload(&builder, hooks, put, program, error);
  }
  heed_gpu_builder_end(&builder);
  if (status == HEED_OK)
    *result = program;
  else
    program_destroy(program);
  return status;
}

static heed_status program_write(heed_program *program, uint64_t offset, const void *from,
                                 size_t bytes, heed_error *error) {
  const heed_gpu_list_host *host = &program->backend->host;
  const uint32_t buffer = heed_gpu_arena_buffer(program->plan, &offset);
  (void)error;
  host->write(host->user, program->number, buffer, offset, from, bytes);
  return HEED_OK;
}

static heed_status program_read(heed_program *program, uint64_t offset, void *to, size_t bytes,
                                heed_error *error) {
  const heed_gpu_list_host *host = &program->backend->host;
  const uint32_t buffer = heed_gpu_arena_buffer(program->plan, &offset);
  return host->read(host->user, program->number, buffer, offset, to, bytes, error);
}

static heed_status run_part(heed_program *program, uint32_t *step, uint32_t end,
                            heed_error *error) {
  const heed_plan *plan = program->plan;
  const heed_gpu_list_host *host = &program->backend->host;
  const uint32_t stage = heed_plan_node(plan, *step)->stage,
                 first = *step ? program->ends[*step - 1] : 0;
  while (*step < end && heed_plan_node(plan, *step)->stage == stage) ++*step;
  return host->run(host->user, program->number, first, program->ends[*step - 1], error);
}

static heed_status program_run(heed_program *program, const heed_hooks *hooks, heed_error *error) {
  const heed_gpu_list_host *host = &program->backend->host;
  HEED_TRY(heed_check_cancel(hooks, "run", error));
  return host->run(host->user, program->number, 0, program->ends[program->plan->step_count - 1],
                   error);
}

static heed_status profile(heed_program *program, const heed_clock *clock, heed_step_time *times,
                           heed_error *error) {
  (void)program, (void)clock, (void)times;
  return heed_fail(error, HEED_UNSUPPORTED, "profile: the webgpu backend has no times of steps");
}

static void destroy(heed_backend *backend) { heed_free(backend->context, backend); }

static const heed_backend_vtable vtable = {.name = "webgpu",
                                           .plan = {.supports = supports,
                                                    .measure = measure,
                                                    .describe = describe,
                                                    .mode = mode,
                                                    .banks = banks},
                                           .program_create = program_create,
                                           .program_destroy = program_destroy,
                                           .write = program_write,
                                           .read = program_read,
                                           .run = program_run,
                                           .run_part = run_part,
                                           .profile = profile,
                                           .destroy = destroy};

heed_status heed_gpu_list_backend_create(heed_context *context, const heed_gpu_limits *limits,
                                         const heed_gpu_list_host *host, const char *device,
                                         heed_backend **backend, heed_error *error) {
  list_backend *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "webgpu", sizeof *made);
  *made = (list_backend){
      .base = {.vtable = &vtable, .context = context}, .limits = *limits, .host = *host};
  snprintf(made->base.device, sizeof made->base.device, "%s", device);
  heed_backend_bind(&made->base);
  *backend = &made->base;
  return HEED_OK;
}
