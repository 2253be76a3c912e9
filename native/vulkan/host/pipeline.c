/* Pipelines, made when a program first has them. */
#include "vulkan/host/pipeline.h"

#include <string.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "vulkan/host/shader_code.h"

heed_status heed_vk_pipelines_create(heed_vk_device *device, const void *cache_bytes,
                                     size_t cache_size, heed_vk_pipelines *pipelines,
                                     heed_error *error) {
  memset(pipelines, 0, sizeof *pipelines);
  pipelines->device = device;
  const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                          .initialDataSize = cache_bytes ? cache_size : 0,
                                          .pInitialData = cache_bytes};
  HEED_VK_TRY(
      device,
      device->instance.api.CreatePipelineCache(device->handle, &info, NULL, &pipelines->cache),
      "vkCreatePipelineCache");
  return HEED_OK;
}

void heed_vk_pipelines_destroy(heed_vk_pipelines *pipelines) {
  heed_vk_device *device = pipelines->device;
  if (!device) return;
  const heed_vk_api *api = &device->instance.api;
  for (size_t i = 0; i < pipelines->count; i++)
    api->DestroyPipeline(device->handle, pipelines->table[i].handle, NULL);
  heed_free(device->instance.context, pipelines->table);
  for (size_t i = 0; i < pipelines->layout_count; i++) {
    if (pipelines->layouts[i].pipeline)
      api->DestroyPipelineLayout(device->handle, pipelines->layouts[i].pipeline, NULL);
    api->DestroyDescriptorSetLayout(device->handle, pipelines->layouts[i].set, NULL);
  }
  heed_free(device->instance.context, pipelines->layouts);
  for (size_t i = 0; i < HEED_SHADER_COUNT; i++)
    if (pipelines->modules[i])
      api->DestroyShaderModule(device->handle, pipelines->modules[i], NULL);
  if (pipelines->cache) api->DestroyPipelineCache(device->handle, pipelines->cache, NULL);
  memset(pipelines, 0, sizeof *pipelines);
}

static heed_status make_layout(heed_vk_device *device, heed_vk_layout *layout, heed_error *error) {
  const heed_vk_api *api = &device->instance.api;
  VkDescriptorSetLayoutBinding slots[HEED_GPU_BINDINGS];
  for (uint32_t i = 0; i < layout->bindings; i++) {
    const VkDescriptorType type = layout->texels >> i & 1u ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                                                           : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    slots[i] = (VkDescriptorSetLayoutBinding){i, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  }
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = layout->bindings,
      .pBindings = slots};
  HEED_VK_TRY(device, api->CreateDescriptorSetLayout(device->handle, &set, NULL, &layout->set),
              "vkCreateDescriptorSetLayout");
  const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, HEED_GPU_PUSH_BYTES};
  const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &layout->set,
                                           .pushConstantRangeCount = 1,
                                           .pPushConstantRanges = &push};
  const heed_status status = heed_vk_check(
      device, api->CreatePipelineLayout(device->handle, &info, NULL, &layout->pipeline),
      "vkCreatePipelineLayout", error);
  if (status != HEED_OK) api->DestroyDescriptorSetLayout(device->handle, layout->set, NULL);
  return status;
}

heed_status heed_vk_get_layout(heed_vk_pipelines *pipelines, const heed_gpu_dispatch *dispatch,
                               heed_vk_layout *layout, heed_error *error) {
  uint32_t texels = 0;
  for (uint32_t i = 0; i < dispatch->binding_count; i++)
    texels |= (uint32_t)dispatch->binding[i].texels << i;
  for (size_t i = 0; i < pipelines->layout_count; i++) {
    *layout = pipelines->layouts[i];
    if (layout->bindings == dispatch->binding_count && layout->texels == texels) return HEED_OK;
  }
  if (!heed_grow(pipelines->device->instance.context, &pipelines->layouts,
                 &pipelines->layout_capacity, pipelines->layout_count + 1, sizeof *layout))
    return heed_fail_memory(error, "vulkan: layouts", sizeof *layout);
  *layout = (heed_vk_layout){.bindings = dispatch->binding_count, .texels = texels};
  HEED_TRY(make_layout(pipelines->device, layout, error));
  pipelines->layouts[pipelines->layout_count++] = *layout;
  return HEED_OK;
}

/* With the promise of reconvergence that the device gives. */
static heed_status make_module(heed_vk_device *device, heed_gpu_shader shader, VkShaderModule *made,
                               heed_error *error) {
  const heed_context *context = device->instance.context;
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  const uint32_t *words = info.pCode = heed_vk_shader_code(shader, &info.codeSize);
  uint32_t *asking = NULL;
  if (device->promise) {
    const size_t count = info.codeSize / sizeof *words, most = count + HEED_VK_PROMISE_WORDS;
    asking = heed_alloc_raw(context, most, sizeof *asking);
    if (!asking) return heed_fail_memory(error, "vulkan: shader", most * sizeof *asking);
    const size_t asked = heed_vk_ask_promise(device->promise, words, count, asking);
    if (asked) info.pCode = asking;
    if (asked) info.codeSize = asked * sizeof *asking;
  }
  const VkResult result =
      device->instance.api.CreateShaderModule(device->handle, &info, NULL, made);
  heed_free(context, asking);
  return heed_vk_check(device, result, "vkCreateShaderModule", error);
}

static heed_status get_module(heed_vk_pipelines *pipelines, heed_gpu_shader shader,
                              VkShaderModule *module, heed_error *error) {
  heed_vk_device *device = pipelines->device;
  VkShaderModule *made = &pipelines->modules[shader];
  if (!*made) {
    HEED_TRY(make_module(device, shader, made, error));
  }
  *module = *made;
  return HEED_OK;
}

static bool same(const heed_vk_pipeline *pipeline, const heed_gpu_dispatch *dispatch) {
  return pipeline->shader == dispatch->shader && pipeline->lanes == dispatch->lanes &&
         pipeline->constant_count == dispatch->constant_count &&
         memcmp(pipeline->constants, dispatch->constants,
                dispatch->constant_count * sizeof(uint32_t)) == 0;
}

static const heed_vk_pipeline *find(const heed_vk_pipelines *pipelines,
                                    const heed_gpu_dispatch *dispatch) {
  for (size_t i = 0; i < pipelines->count; i++)
    if (same(&pipelines->table[i], dispatch)) return &pipelines->table[i];
  return NULL;
}

VkPipeline heed_vk_find_pipeline(const heed_vk_pipelines *pipelines,
                                 const heed_gpu_dispatch *dispatch) {
  return find(pipelines, dispatch)->handle;
}

/* An entry that only lacks its handle. */
static heed_status add(heed_vk_pipelines *pipelines, const heed_gpu_dispatch *dispatch,
                       heed_error *error) {
  heed_vk_layout layout;
  heed_vk_pipeline made = {.shader = dispatch->shader,
                           .constant_count = dispatch->constant_count,
                           .lanes = dispatch->lanes};
  memcpy(made.constants, dispatch->constants, sizeof made.constants);
  HEED_TRY(heed_vk_get_layout(pipelines, dispatch, &layout, error));
  HEED_TRY(get_module(pipelines, dispatch->shader, &made.module, error));
  made.layout = layout.pipeline;
  if (!heed_grow(pipelines->device->instance.context, &pipelines->table, &pipelines->capacity,
                 pipelines->count + 1, sizeof *pipelines->table))
    return heed_fail_memory(error, "vulkan: pipelines", sizeof *pipelines->table);
  pipelines->table[pipelines->count++] = made;
  return HEED_OK;
}

typedef struct work {
  heed_vk_device *device;
  VkPipelineCache cache; /* synchronised by the driver */
  heed_vk_pipeline *first;
} work;

#define TRUNCATES 31 /* constant of shaders/include/half.glsl */

static VkPipelineCreateFlags flags_of(const heed_vk_device *device) {
  VkPipelineCreateFlags flags = device->splits_dispatches ? VK_PIPELINE_CREATE_DISPATCH_BASE : 0;
  if (device->test.statistics)
    flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
             VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  return flags;
}

/* On any thread: allocates nothing of the context's, says nothing. */
static void make(uint64_t task, uint32_t worker, void *user) {
  const work *w = user;
  heed_vk_pipeline *pipeline = &w->first[task];
  VkSpecializationMapEntry entries[HEED_GPU_CONSTANTS + 1];
  uint32_t constants_and_test[HEED_GPU_CONSTANTS + 1], count = pipeline->constant_count;
  (void)worker;
  for (uint32_t i = 0; i < pipeline->constant_count; i++)
    entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof(uint32_t), sizeof(uint32_t)};
  memcpy(constants_and_test, pipeline->constants, sizeof pipeline->constants);
  constants_and_test[count] = w->device->test.truncates;
  entries[count] =
      (VkSpecializationMapEntry){TRUNCATES, count * (uint32_t)sizeof(uint32_t), sizeof(uint32_t)};
  count += w->device->test.truncates;
  const VkSpecializationInfo constants = {count, entries, count * sizeof(uint32_t),
                                          constants_and_test};
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = pipeline->lanes};
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .flags = flags_of(w->device),
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = pipeline->lanes && !w->device->has_fixed_lanes ? &size : NULL,
                .flags = pipeline->lanes
                             ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
                             : 0,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = pipeline->module,
                .pName = "main",
                .pSpecializationInfo = &constants},
      .layout = pipeline->layout};
  pipeline->result = w->device->instance.api.CreateComputePipelines(w->device->handle, w->cache, 1,
                                                                    &info, NULL, &pipeline->handle);
}

/* Some at a time, so that the caller can stop it. */
static heed_status make_all(heed_vk_pipelines *pipelines, size_t first, heed_thread_pool *pool,
                            const heed_hooks *hooks, heed_error *error) {
  const size_t total = pipelines->count - first, most = 2 * (size_t)heed_thread_pool_count(pool);
  for (size_t done = 0; done < total;) {
    const size_t some = total - done < most ? total - done : most;
    work w = {pipelines->device, pipelines->cache, pipelines->table + first + done};
    HEED_TRY(heed_check_cancel(hooks, "pipelines", error));
    heed_thread_pool_run(pool, some, make, &w);
    for (size_t i = 0; i < some; i++)
      HEED_VK_TRY(pipelines->device, w.first[i].result, "vkCreateComputePipelines");
    done += some;
    heed_report_progress(hooks, "pipelines", done, total);
  }
  return HEED_OK;
}

static heed_status add_and_make(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                                const heed_hooks *hooks, heed_error *error) {
  const size_t first = pipelines->count;
  for (size_t i = 0; i < builder->dispatch_count; i++)
    if (!find(pipelines, &builder->dispatches[i]))
      HEED_TRY(add(pipelines, &builder->dispatches[i], error));
  if (pipelines->count == first) return HEED_OK;
  /* Validation counts and logs its messages on the thread that caused them. */
  const bool alone = pipelines->count == first + 1 || pipelines->device->instance.messenger;
  heed_thread_pool *pool;
  HEED_TRY(heed_thread_pool_create(builder->context, alone ? 1 : 0, &pool, error));
  const heed_status status = make_all(pipelines, first, pool, hooks, error);
  heed_thread_pool_destroy(pool);
  return status;
}

heed_status heed_vk_make_pipelines(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                                   const heed_hooks *hooks, heed_error *error) {
  const size_t before = pipelines->count;
  const heed_status status = add_and_make(pipelines, builder, hooks, error);
  const heed_vk_device *device = pipelines->device;
  for (; status != HEED_OK && pipelines->count > before; pipelines->count--) {
    const VkPipeline handle = pipelines->table[pipelines->count - 1].handle;
    if (handle) device->instance.api.DestroyPipeline(device->handle, handle, NULL);
  }
  return status;
}
