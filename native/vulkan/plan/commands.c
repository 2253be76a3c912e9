/* Records the dispatches of a program. */
#include "vulkan/plan/commands.h"

#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "gpu/hazard.h"
#include "gpu/split_submissions.h"

typedef struct recorder {
  heed_vk_commands *commands;
  heed_vk_pipelines *pipelines;
  const heed_gpu_builder *builder;
  const heed_vk_places *places;
  VkQueryPool stamps;
  const heed_vk_copies *copies;
  uint32_t stamp_count;
  VkDescriptorSet set; /* of the dispatch at hand */
  heed_gpu_hazards hazards;
} recorder;

static heed_gpu_subdispatches walk_of(const recorder *r) {
  return (heed_gpu_subdispatches){.builder = r->builder, .budget = r->commands->budget};
}

/* One command buffer for each run of subdispatches that neither a stage nor a submission ends; at
 * least one. */
static uint32_t count_buffers(const recorder *r) {
  heed_gpu_subdispatches walk = walk_of(r);
  heed_gpu_subdispatch part;
  uint32_t count = 1;
  while (heed_gpu_next_subdispatch(&walk, &part)) count += part.new_stage || part.breaks;
  return count;
}

static heed_status make_pools(recorder *r, heed_error *error) {
  heed_vk_commands *commands = r->commands;
  heed_vk_device *device = commands->device;
  const heed_vk_api *api = &device->instance.api;
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = device->family};
  HEED_VK_TRY(device, api->CreateCommandPool(device->handle, &pool, NULL, &commands->pool),
              "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo buffers = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = commands->pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = commands->count};
  HEED_VK_TRY(device, api->AllocateCommandBuffers(device->handle, &buffers, commands->buffers),
              "vkAllocateCommandBuffers");
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  HEED_VK_TRY(device, api->CreateFence(device->handle, &fence, NULL, &commands->fence),
              "vkCreateFence");
  uint32_t descriptors = 1, texels = 1;
  for (size_t i = 0; i < r->builder->dispatch_count; i++) {
    const heed_gpu_dispatch *dispatch = &r->builder->dispatches[i];
    for (uint32_t slot = 0; slot < dispatch->binding_count; slot++)
      *(dispatch->binding[slot].texels ? &texels : &descriptors) += 1;
  }
  commands->views = heed_alloc(r->builder->context, texels, sizeof(VkBufferView));
  if (!commands->views)
    return heed_fail_memory(error, "vulkan: buffer views", texels * sizeof(VkBufferView));
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptors},
                                        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, texels}};
  const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                           .maxSets = (uint32_t)r->builder->dispatch_count + 1,
                                           .poolSizeCount = 2,
                                           .pPoolSizes = sizes};
  HEED_VK_TRY(device,
              api->CreateDescriptorPool(device->handle, &info, NULL, &commands->descriptors),
              "vkCreateDescriptorPool");
  return HEED_OK;
}

/* What a slot without meaning is bound to, since a set has no holes: a range that the dispatch
 * writes, so that an access which the kernel declares but never makes adds no hazard. */
static const heed_gpu_range *stand_in(const heed_gpu_dispatch *dispatch) {
  for (uint32_t i = 0; i < dispatch->binding_count; i++)
    if (dispatch->binding[i].written) return &dispatch->binding[i];
  return &dispatch->binding[0];
}

static VkDescriptorBufferInfo buffer_of(const recorder *r, const heed_gpu_dispatch *dispatch,
                                        uint32_t slot) {
  const heed_gpu_range *range = &dispatch->binding[slot];
  if (range->place == HEED_GPU_NOWHERE) range = stand_in(dispatch);
  HEED_ASSERT(range->place != HEED_GPU_WEIGHTS || range->block < r->builder->block_count);
  const heed_vk_buffer *buffer = range->place == HEED_GPU_ARENA     ? &r->places->arena
                                 : range->place == HEED_GPU_SCRATCH ? &r->places->scratch
                                 : range->place == HEED_GPU_COUNTER
                                     ? &r->places->counter
                                     : &r->places->blocks[range->block];
  HEED_ASSERT(range->bytes <= buffer->bytes && range->offset <= buffer->bytes - range->bytes);
  return (VkDescriptorBufferInfo){buffer->handle, range->offset, range->bytes};
}

static heed_status make_view(recorder *r, const VkDescriptorBufferInfo *buffer,
                             const heed_gpu_range *range, VkBufferView **view, heed_error *error) {
  heed_vk_device *device = r->commands->device;
  const uint64_t texel = range->single ? 4 : range->half ? 8 : 16;
  const VkBufferViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                       .buffer = buffer->buffer,
                                       .format = range->words    ? VK_FORMAT_R32G32B32A32_UINT
                                                 : range->single ? VK_FORMAT_R32_SFLOAT
                                                 : range->half   ? VK_FORMAT_R16G16B16A16_SFLOAT
                                                                 : VK_FORMAT_R32G32B32A32_SFLOAT,
                                       .offset = buffer->offset,
                                       .range = buffer->range / texel * texel};
  *view = &r->commands->views[r->commands->view_count];
  HEED_VK_TRY(device, device->instance.api.CreateBufferView(device->handle, &info, NULL, *view),
              "vkCreateBufferView");
  r->commands->view_count++;
  return HEED_OK;
}

static heed_status make_set(recorder *r, const heed_gpu_dispatch *dispatch,
                            const heed_vk_layout *layout, VkDescriptorSet *set, heed_error *error) {
  heed_vk_device *device = r->commands->device;
  const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = r->commands->descriptors,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &layout->set};
  HEED_VK_TRY(device, device->instance.api.AllocateDescriptorSets(device->handle, &info, set),
              "vkAllocateDescriptorSets");
  VkDescriptorBufferInfo buffers[HEED_GPU_BINDINGS];
  VkWriteDescriptorSet writes[HEED_GPU_BINDINGS];
  for (uint32_t i = 0; i < dispatch->binding_count; i++) {
    buffers[i] = buffer_of(r, dispatch, i);
    writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = *set,
                                       .dstBinding = i,
                                       .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = &buffers[i]};
    if (!dispatch->binding[i].texels) continue;
    VkBufferView *view;
    HEED_TRY(make_view(r, &buffers[i], &dispatch->binding[i], &view, error));
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    writes[i].pTexelBufferView = view;
  }
  device->instance.api.UpdateDescriptorSets(device->handle, dispatch->binding_count, writes, 0,
                                            NULL);
  return HEED_OK;
}

static void barrier(const recorder *r, VkCommandBuffer buffer, VkPipelineStageFlags from,
                    VkAccessFlags written, VkPipelineStageFlags to, VkAccessFlags seen) {
  const VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL, written, seen};
  r->commands->device->instance.api.CmdPipelineBarrier(buffer, from, to, 0, 1, &memory, 0, NULL, 0,
                                                       NULL);
}

static void order(recorder *r, VkCommandBuffer buffer, const heed_gpu_dispatch *dispatch) {
  const bool meets = heed_gpu_hazards_meet(&r->hazards, dispatch);
  if (!meets && !r->stamps) return;
  barrier(r, buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

static void stamp(recorder *r, VkCommandBuffer buffer) {
  if (r->stamps)
    r->commands->device->instance.api.CmdWriteTimestamp(
        buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, r->stamps, r->stamp_count++);
}

static heed_status bind(recorder *r, VkCommandBuffer buffer, const heed_gpu_dispatch *dispatch,
                        bool first, VkDescriptorSet *set, heed_error *error) {
  const heed_vk_api *api = &r->commands->device->instance.api;
  heed_vk_layout layout;
  HEED_TRY(heed_vk_get_layout(r->pipelines, dispatch, &layout, error));
  if (first) HEED_TRY(make_set(r, dispatch, &layout, set, error));
  if (first) order(r, buffer, dispatch);
  api->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                       heed_vk_find_pipeline(r->pipelines, dispatch));
  api->CmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, layout.pipeline, 0, 1, set, 0,
                             NULL);
  api->CmdPushConstants(buffer, layout.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        dispatch->push_bytes, dispatch->push);
  return HEED_OK;
}

static heed_status record_subdispatch(recorder *r, VkCommandBuffer buffer,
                                      const heed_gpu_subdispatch *part, heed_error *error) {
  const heed_vk_api *api = &r->commands->device->instance.api;
  const uint32_t *base = part->base, *groups = part->groups;
  HEED_TRY(bind(r, buffer, &r->builder->dispatches[part->dispatch], part->begins, &r->set, error));
  if (r->commands->device->test.null_dispatch)
    api->CmdDispatch(buffer, 0, 0, 0);
  else if (part->begins && part->ends)
    api->CmdDispatch(buffer, groups[0], groups[1], groups[2]);
  else
    api->CmdDispatchBase(buffer, base[0], base[1], base[2], groups[0], groups[1], groups[2]);
  if (part->ends) stamp(r, buffer);
  return HEED_OK;
}

#define ANY_SHADER (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT)

/* What the host, a copy or an earlier run did before is over and seen. */
static void record_start(recorder *r, VkCommandBuffer buffer) {
  const heed_vk_api *api = &r->commands->device->instance.api;
  const VkPipelineStageFlags before = VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                                      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  const VkAccessFlags written =
      VK_ACCESS_HOST_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  if (!r->copies || !r->copies->input_count) {
    barrier(r, buffer, before, written, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, ANY_SHADER);
    return;
  }
  barrier(r, buffer, before, written,
          VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | ANY_SHADER);
  api->CmdCopyBuffer(buffer, r->copies->in, r->places->arena.handle, r->copies->input_count,
                     r->copies->inputs);
  barrier(r, buffer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, ANY_SHADER);
}

/* What was written is seen after. */
static void record_end(recorder *r, VkCommandBuffer buffer) {
  barrier(r, buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
          VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_HOST_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT);
  if (!r->copies || !r->copies->output_count) return;
  r->commands->device->instance.api.CmdCopyBuffer(buffer, r->places->arena.handle, r->copies->out,
                                                  r->copies->output_count, r->copies->outputs);
  barrier(r, buffer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

static heed_status begin_buffer(recorder *r, uint32_t index, heed_error *error) {
  heed_vk_device *device = r->commands->device;
  const heed_vk_api *api = &device->instance.api;
  const VkCommandBuffer buffer = r->commands->buffers[index];
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  HEED_VK_TRY(device, api->BeginCommandBuffer(buffer, &info), "vkBeginCommandBuffer");
  if (index) return HEED_OK;
  if (r->stamps)
    api->CmdResetQueryPool(buffer, r->stamps, 0, (uint32_t)r->builder->dispatch_count + 1);
  record_start(r, buffer);
  stamp(r, buffer);
  return HEED_OK;
}

static heed_status end_buffer(recorder *r, uint32_t index, uint8_t ends, heed_error *error) {
  heed_vk_device *device = r->commands->device;
  const VkCommandBuffer buffer = r->commands->buffers[index];
  if (index + 1 == r->commands->count) record_end(r, buffer);
  HEED_VK_TRY(device, device->instance.api.EndCommandBuffer(buffer), "vkEndCommandBuffer");
  r->commands->ends[index] = ends;
  return HEED_OK;
}

static heed_status record(recorder *r, heed_error *error) {
  heed_gpu_subdispatches walk = walk_of(r);
  heed_gpu_subdispatch part;
  uint32_t index = 0;
  r->commands->stages = 1;
  HEED_TRY(begin_buffer(r, index, error));
  while (heed_gpu_next_subdispatch(&walk, &part)) {
    if (part.new_stage || part.breaks) {
      HEED_TRY(end_buffer(
          r, index,
          (part.new_stage ? HEED_VK_ENDS_STAGE : 0) | (part.breaks ? HEED_VK_ENDS_SUBMISSION : 0),
          error));
      HEED_TRY(begin_buffer(r, ++index, error));
      r->commands->stages += part.new_stage;
    }
    HEED_TRY(record_subdispatch(r, r->commands->buffers[index], &part, error));
  }
  return end_buffer(r, index, HEED_VK_ENDS_STAGE | HEED_VK_ENDS_SUBMISSION, error);
}

heed_status heed_vk_commands_create(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                                    const heed_vk_recording *recording, const heed_hooks *hooks,
                                    heed_vk_commands *commands, heed_error *error) {
  memset(commands, 0, sizeof *commands);
  commands->device = pipelines->device;
  commands->budget = recording->budget;
  recorder r = {.commands = commands,
                .pipelines = pipelines,
                .builder = builder,
                .places = recording->places,
                .stamps = recording->stamps,
                .copies = recording->copies};
  commands->count = count_buffers(&r);
  commands->buffers = heed_alloc(builder->context, commands->count, sizeof(VkCommandBuffer));
  commands->ends = heed_alloc(builder->context, commands->count, sizeof *commands->ends);
  heed_status status = HEED_OK;
  if (!commands->buffers || !commands->ends)
    status = heed_fail_memory(error, "vulkan: commands", commands->count * sizeof(VkCommandBuffer));
  if (status == HEED_OK) status = heed_vk_make_pipelines(pipelines, builder, hooks, error);
  if (status == HEED_OK) status = make_pools(&r, error);
  if (status == HEED_OK) status = record(&r, error);
  if (status != HEED_OK) heed_vk_commands_destroy(commands, builder->context);
  return status;
}

void heed_vk_commands_destroy(heed_vk_commands *commands, const heed_context *context) {
  heed_vk_device *device = commands->device;
  if (!device) return;
  const heed_vk_api *api = &device->instance.api;
  if (commands->fence) api->DestroyFence(device->handle, commands->fence, NULL);
  if (commands->pool) api->DestroyCommandPool(device->handle, commands->pool, NULL);
  if (commands->descriptors)
    api->DestroyDescriptorPool(device->handle, commands->descriptors, NULL);
  for (uint32_t i = 0; i < commands->view_count; i++)
    api->DestroyBufferView(device->handle, commands->views[i], NULL);
  heed_free(context, commands->views);
  heed_free(context, commands->buffers);
  heed_free(context, commands->ends);
  memset(commands, 0, sizeof *commands);
}

/* Submits from *index on to the end of the stage or, when `all`, of the program; the last one with
 * the fence. */
static heed_status start(heed_vk_commands *commands, uint32_t *index, bool all, heed_error *error) {
  for (bool last = false; !last;) {
    const uint32_t first = *index;
    uint8_t ends = 0;
    while (!(ends & (all ? HEED_VK_ENDS_SUBMISSION : HEED_VK_ENDS_SUBMISSION | HEED_VK_ENDS_STAGE)))
      ends = commands->ends[(*index)++];
    last = all ? *index == commands->count : ends & HEED_VK_ENDS_STAGE;
    HEED_TRY(heed_vk_submit(commands->device, commands->buffers + first, *index - first,
                            last ? commands->fence : VK_NULL_HANDLE, error));
  }
  return HEED_OK;
}

heed_status heed_vk_commands_start(heed_vk_commands *commands, heed_error *error) {
  uint32_t index = 0;
  return start(commands, &index, true, error);
}

heed_status heed_vk_commands_run(heed_vk_commands *commands, const heed_hooks *hooks,
                                 heed_error *error) {
  uint32_t index = 0;
  if (!hooks || (!hooks->progress && !hooks->cancel)) {
    HEED_TRY(start(commands, &index, true, error));
    return heed_vk_wait(commands->device, commands->fence, error);
  }
  for (uint32_t stage = 0; stage < commands->stages; stage++) {
    HEED_TRY(heed_check_cancel(hooks, "run", error));
    HEED_TRY(start(commands, &index, false, error));
    HEED_TRY(heed_vk_wait(commands->device, commands->fence, error));
    heed_report_progress(hooks, "run", stage + 1, commands->stages);
  }
  return HEED_OK;
}
