/* The vtable: plans become programs of buffers, pipelines and command buffers. */
#include "vulkan/host/backend_state.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/log.h"
#include "base/status.h"
#include "gpu/dispatch_list.h"
#include "gpu/dispatch_summary.h"
#include "gpu/op.h"
#include "gpu/ops/linear_int8.h"
#include "gpu/weight_packing.h"
#include "heed/ops.h"
#include "vulkan/host/tile_cache.h"
#include "vulkan/measure/int8_choice.h"
#include "vulkan/measure/matrix_choice.h"
#include "vulkan/measure/measured_peak.h"
#include "vulkan/measure/profile.h"
#include "vulkan/run/in_flight.h"
#include "vulkan/run/program.h"
#include "vulkan/run/submit_budget.h"

static bool has_int8(const heed_plan *plan, const heed_node *node) {
  const heed_linear_desc *desc = node->desc;
  return node->op == HEED_OP_KIND_linear && heed_gpu_int8_of(plan->graph, desc->weight.id);
}

static heed_status supports(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                            heed_error *error) {
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  heed_gpu_builder builder;
  if (has_int8(plan, node) && !vulkan->device.test.statistics)
    HEED_TRY(heed_vk_check_int8(vulkan, error));
  heed_gpu_builder_start(&builder, plan, &vulkan->device.limits);
  const heed_status status = heed_gpu_builder_node(&builder, node, error);
  heed_gpu_builder_end(&builder);
  return status;
}

static heed_status measure(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                           heed_error *error) {
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, &vulkan->device.limits);
  const heed_status status = heed_gpu_builder_plan(&builder, error);
  memory->weights = 0;
  for (size_t i = 0; i < builder.block_count; i++) memory->weights += builder.blocks[i];
  memory->workspace = heed_vk_memory_is_shared(&vulkan->device) ? 0 : HEED_VK_STAGING_BYTES;
  memory->workspace += builder.scratch_bytes;
  if (builder.counts) memory->workspace += HEED_GPU_COUNTER_BYTES;
  if (builder.weight_count) memory->workspace += heed_gpu_pack_bytes(&builder);
  heed_gpu_builder_end(&builder);
  return status;
}

static heed_status want_device(const heed_vk_backend *vulkan, heed_error *error) {
  if (!vulkan->device.lost) return HEED_OK;
  return heed_fail(error, HEED_DEVICE_LOST, "vulkan: device %s was lost; create a new backend",
                   vulkan->device.info.name);
}

static heed_status program_create(heed_backend *backend, const heed_plan *plan,
                                  const heed_hooks *hooks, heed_program **program,
                                  heed_error *error) {
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  *program = NULL;
  HEED_TRY(want_device(vulkan, error));
  return heed_vk_program_create(vulkan, plan, hooks, program, error);
}

static heed_status program_write(heed_program *program, uint64_t offset, const void *from,
                                 size_t bytes, heed_error *error) {
  return heed_vk_copy_in(&program->transfer, &program->places.arena, offset, from, bytes, error);
}

static heed_status program_read(heed_program *program, uint64_t offset, void *to, size_t bytes,
                                heed_error *error) {
  return heed_vk_copy_out(&program->transfer, &program->places.arena, offset, to, bytes, error);
}

static heed_status run(heed_program *program, const heed_hooks *hooks, heed_error *error) {
  HEED_TRY(want_device(program->backend, error));
  return heed_vk_program_run(program, hooks, error);
}

static heed_status profile(heed_program *program, const heed_clock *clock, heed_step_time *times,
                           heed_error *error) {
  heed_vk_pipelines *pipelines = &program->backend->pipelines;
  const heed_program *now = heed_vk_program_now(program);
  (void)clock;
  HEED_TRY(want_device(program->backend, error));
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, now->plan, now->limits);
  heed_status status = heed_gpu_builder_plan(&builder, error);
  if (status == HEED_OK)
    status = heed_vk_profile(pipelines, &builder, &now->places,
                             heed_vk_find_budget(pipelines, &builder), times, error);
  heed_gpu_builder_end(&builder);
  return status;
}

static heed_status ring_create(heed_program *program, const heed_spans *inputs,
                               const heed_spans *outputs, uint32_t slots, heed_ring **ring,
                               heed_error *error) {
  HEED_TRY(want_device(program->backend, error));
  return heed_vk_in_flight_create(program, inputs, outputs, slots, ring, error);
}

static void describe(heed_backend *backend, const heed_plan *plan, const heed_node *node,
                     heed_plan_step *step) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, &((heed_vk_backend *)backend)->device.limits);
  heed_gpu_builder_node(&builder, node, NULL);
  step->dispatches = (uint32_t)builder.dispatch_count;
  step->kernel_count = heed_gpu_list_kernels(&builder, step->kernel, HEED_STEP_KERNELS);
  heed_gpu_builder_end(&builder);
}

static heed_attention_mode mode(const heed_backend *backend, const heed_plan *plan,
                                const heed_node *node) {
  const heed_gpu_limits *limits = &((const heed_vk_backend *)backend)->device.limits;
  return heed_gpu_ops[node->op]->mode(limits, plan, node);
}

static void destroy(heed_backend *backend) {
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  heed_context *context = backend->context;
  heed_vk_pipelines_destroy(&vulkan->pipelines);
  heed_vk_device_destroy(&vulkan->device);
  heed_vk_cache_close(&vulkan->cache);
  heed_free(context, vulkan);
}

static const heed_backend_vtable vtable = {
    .name = "vulkan",
    .plan = {.supports = supports, .measure = measure, .describe = describe, .mode = mode},
    .program_create = program_create,
    .program_destroy = heed_vk_program_destroy,
    .write = program_write,
    .read = program_read,
    .run = run,
    .profile = profile,
    .destroy = destroy,
    .ring_create = ring_create,
    .ring_destroy = heed_vk_in_flight_destroy,
    .ring_submit = heed_vk_in_flight_submit,
    .ring_collect = heed_vk_in_flight_collect,
};

static heed_status open_backend(heed_vk_backend *vulkan, const heed_vulkan_desc *desc,
                                heed_error *error) {
  const heed_context *context = vulkan->base.context;
  HEED_TRY(heed_vk_device_create(context, desc, &vulkan->device, error));
  HEED_TRY(
      heed_vk_cache_open(&vulkan->cache, context, desc->cache_directory, &vulkan->device, error));
  HEED_TRY(heed_vk_choose_matrices(vulkan, desc, error));
  heed_vk_tiles_load(&vulkan->cache, &vulkan->device.limits, &vulkan->tiles);
  vulkan->device.limits.tiles = &vulkan->tiles;
  void *bytes;
  size_t size;
  heed_vk_cache_load(&vulkan->cache, &bytes, &size);
  const heed_status status =
      heed_vk_pipelines_create(&vulkan->device, bytes, size, &vulkan->pipelines, error);
  heed_free(context, bytes);
  snprintf(vulkan->base.device, sizeof vulkan->base.device, "%.110s, Vulkan %u.%u%s",
           vulkan->device.info.name, vulkan->device.info.api_major, vulkan->device.info.api_minor,
           vulkan->device.limits.half ? ", weights in fp16" : "");
  return status;
}

heed_status heed_vulkan_backend_create(heed_context *context, const heed_vulkan_desc *desc,
                                       heed_backend **backend, heed_error *error) {
  heed_vulkan_desc full = HEED_VULKAN_DESC_INIT;
  if (!context || !backend)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "vulkan: NULL argument (expected context and backend)");
  *backend = NULL;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "vulkan", error));
  heed_vk_backend *vulkan = heed_alloc(context, 1, sizeof *vulkan);
  if (!vulkan) return heed_fail_memory(error, "vulkan", sizeof *vulkan);
  vulkan->base.vtable = &vtable;
  vulkan->base.context = context;
  heed_backend_bind(&vulkan->base);
  vulkan->checks_again = full.check_again;
  const heed_status status = open_backend(vulkan, &full, error);
  if (status != HEED_OK) {
    destroy(&vulkan->base);
    return status;
  }
  heed_log(context, HEED_LOG_INFO, "vulkan: %s (%s)", vulkan->base.device,
           vulkan->device.info.driver);
  *backend = &vulkan->base;
  return HEED_OK;
}

uint32_t heed_vulkan_submission_count(const heed_backend *backend) {
  return backend && backend->vtable == &vtable
             ? ((const heed_vk_backend *)backend)->device.fault.submits
             : 0;
}

uint32_t heed_vulkan_message_count(const heed_backend *backend) {
  return backend && backend->vtable == &vtable
             ? ((const heed_vk_backend *)backend)->device.instance.messages
             : 0;
}

heed_status heed_vulkan_measure_ceiling(heed_backend *backend, heed_vulkan_ceiling *ceiling,
                                        heed_error *error) {
  if (!backend || backend->vtable != &vtable || !ceiling)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "measured peak: no Vulkan backend or NULL result (found %s)",
                     backend ? backend->vtable->name : "NULL");
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  HEED_TRY(want_device(vulkan, error));
  return heed_vk_measure_peak(&vulkan->pipelines, ceiling, error);
}
