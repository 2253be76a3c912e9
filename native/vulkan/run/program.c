/* Makes programs. One in fp16 whose values leave the range of fp16 gets another one in fp32. */
#include "vulkan/run/program.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "gpu/dispatch_list.h"
#include "gpu/weight_upload.h"
#include "vulkan/run/submit_budget.h"

void heed_vk_program_destroy(heed_program *program) {
  if (!program) return;
  heed_vk_program_destroy(program->fp32);
  heed_vk_device *device = &program->backend->device;
  const heed_context *context = device->instance.context;
  heed_vk_commands_destroy(&program->commands, context);
  for (size_t i = 0; i < program->block_count; i++)
    heed_vk_buffer_destroy(device, &program->places.blocks[i]);
  heed_free(context, program->places.blocks);
  if (!program->borrows_arena) heed_vk_buffer_destroy(device, &program->places.arena);
  heed_vk_buffer_destroy(device, &program->places.scratch);
  heed_vk_buffer_destroy(device, &program->places.counter);
  heed_vk_transfer_destroy(&program->transfer);
  heed_free(context, program);
}

/* Of the buffers below; those of a transfer can shrink. */
static uint64_t all_bytes(const heed_program *program, const heed_gpu_builder *builder) {
  uint64_t bytes = builder->scratch_bytes;
  if (!program->borrows_arena) bytes += builder->plan->memory.arena;
  for (size_t i = 0; i < builder->block_count; i++) bytes += builder->blocks[i];
  return bytes;
}

static heed_status make_counter(heed_program *program, heed_error *error) {
  heed_vk_buffer *counter = &program->places.counter;
  HEED_TRY(
      heed_vk_mapped_create(&program->backend->device, HEED_GPU_COUNTER_BYTES, counter, error));
  *(uint32_t *)(void *)counter->mapped = 0;
  return HEED_OK;
}

static heed_status make_buffers(heed_program *program, const heed_gpu_builder *builder,
                                heed_error *error) {
  heed_vk_device *device = &program->backend->device;
  HEED_TRY(heed_vk_want_memory(device, all_bytes(program, builder), error));
  if (!program->borrows_arena)
    HEED_TRY(
        heed_vk_buffer_create(device, builder->plan->memory.arena, &program->places.arena, error));
  if (builder->scratch_bytes)
    HEED_TRY(
        heed_vk_buffer_create(device, builder->scratch_bytes, &program->places.scratch, error));
  if (builder->counts) HEED_TRY(make_counter(program, error));
  heed_vk_buffer *blocks = program->places.blocks =
      heed_alloc(builder->context, builder->block_count + 1, sizeof *blocks);
  if (!blocks)
    return heed_fail_memory(error, "vulkan: weight blocks", builder->block_count * sizeof *blocks);
  for (; program->block_count < builder->block_count; program->block_count++)
    HEED_TRY(heed_vk_buffer_create(device, builder->blocks[program->block_count],
                                   &blocks[program->block_count], error));
  return heed_vk_transfer_create(device, &program->transfer, error); /* takes what is left */
}

static heed_status put_weight(void *user, uint32_t block, uint64_t offset, const void *from,
                              size_t bytes, heed_error *error) {
  heed_program *program = user;
  return heed_vk_copy_in(&program->transfer, &program->places.blocks[block], offset, from, bytes,
                         error);
}

/* Buffers, zeroed arena, weights, command buffers. */
static heed_status fill(heed_program *program, heed_gpu_builder *builder, const heed_hooks *hooks,
                        heed_error *error) {
  heed_vk_pipelines *pipelines = &program->backend->pipelines;
  HEED_TRY(heed_gpu_builder_plan(builder, error));
  HEED_TRY(make_buffers(program, builder, error));
  if (!program->borrows_arena)
    HEED_TRY(heed_vk_clear(&program->transfer, &program->places.arena, error));
  HEED_TRY(heed_gpu_upload(builder, hooks, put_weight, program, error));
  const heed_vk_recording recording = {.places = &program->places,
                                       .budget = heed_vk_find_budget(pipelines, builder)};
  return heed_vk_commands_create(pipelines, builder, &recording, hooks, &program->commands, error);
}

/* Destroys a program that cannot be filled. */
static heed_status finish(heed_program *program, const heed_hooks *hooks, heed_program **result,
                          heed_error *error) {
  heed_vk_backend *vulkan = program->backend;
  const size_t pipelines_before = vulkan->pipelines.count;
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, program->plan, program->limits);
  const heed_status status = fill(program, &builder, hooks, error);
  heed_gpu_builder_end(&builder);
  if (status != HEED_OK) {
    heed_vk_program_destroy(program);
    return status;
  }
  if (vulkan->pipelines.count != pipelines_before)
    heed_vk_cache_save(&vulkan->cache, &vulkan->pipelines);
  *result = program;
  return HEED_OK;
}

heed_status heed_vk_program_create(heed_vk_backend *vulkan, const heed_plan *plan,
                                   const heed_hooks *hooks, heed_program **program,
                                   heed_error *error) {
  *program = NULL;
  heed_program *made = heed_alloc(plan->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "vulkan: program", sizeof *made);
  made->backend = vulkan;
  made->plan = plan;
  made->limits = &vulkan->device.limits;
  return finish(made, hooks, program, error);
}

static uint32_t count_past(const heed_program *program) {
  const unsigned char *mapped = program->places.counter.mapped;
  return mapped ? *(const volatile uint32_t *)(const void *)mapped : 0;
}

heed_status heed_vk_program_widen(heed_program *program, const heed_hooks *hooks,
                                  heed_error *error) {
  const uint32_t past = count_past(program);
  if (past == 0 || program->fp32) return HEED_OK;
  heed_log(program->plan->context, HEED_LOG_WARNING,
           "vulkan: %u values exceed 65504, the largest number of fp16; this plan runs again in "
           "fp32, and so do all its later runs",
           past);
  heed_program *made = heed_alloc(program->plan->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "vulkan: program in fp32", sizeof *made);
  program->fp32_limits = *program->limits;
  program->fp32_limits.half = program->fp32_limits.half_values = false;
  program->fp32_limits.matrix = (heed_gpu_matrix){0, 0, 0, 0};
  program->fp32_limits.matrix2 = (heed_gpu_matrix2){0, 0};
  made->backend = program->backend;
  made->plan = program->plan;
  made->limits = &program->fp32_limits;
  made->borrows_arena = true;
  made->places.arena = program->places.arena;
  return finish(made, hooks, &program->fp32, error);
}

heed_status heed_vk_program_run(heed_program *program, const heed_hooks *hooks, heed_error *error) {
  const heed_program *before = heed_vk_program_now(program);
  HEED_TRY(heed_vk_commands_run(&heed_vk_program_now(program)->commands, hooks, error));
  HEED_TRY(heed_vk_program_widen(program, hooks, error));
  if (heed_vk_program_now(program) == before) return HEED_OK;
  return heed_vk_commands_run(&program->fp32->commands, hooks, error);
}

heed_status heed_vk_program_record(heed_program *program, const heed_vk_copies *copies,
                                   heed_vk_commands *commands, heed_error *error) {
  heed_vk_pipelines *pipelines = &program->backend->pipelines;
  const heed_program *now = heed_vk_program_now(program);
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, now->plan, now->limits);
  heed_status status = heed_gpu_builder_plan(&builder, error);
  const heed_vk_recording recording = {
      .places = &now->places,
      .copies = copies,
      .budget = status == HEED_OK ? heed_vk_find_budget(pipelines, &builder) : 0};
  if (status == HEED_OK)
    status = heed_vk_commands_create(pipelines, &builder, &recording, NULL, commands, error);
  heed_gpu_builder_end(&builder);
  return status;
}
