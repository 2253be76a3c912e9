/* Pipelines, made when first asked for. */
#include "vulkan/pipeline.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

#define HEED_SHADER(name)                    \
  extern const uint32_t heed_spirv_##name[]; \
  extern const size_t heed_spirv_size_##name;
#include "shader_list.h"
#undef HEED_SHADER

typedef struct module_code {
  const uint32_t *words;
  const size_t *bytes;
} module_code;

static const module_code modules[HEED_SHADER_COUNT] = {
#define HEED_SHADER(name) [HEED_SHADER_##name] = {heed_spirv_##name, &heed_spirv_size_##name},
#include "shader_list.h"
#undef HEED_SHADER
};

heed_status heed_vk_pipelines_create(heed_vk_device *device, const void *cache_bytes, size_t cache_size, heed_vk_pipelines *pipelines, heed_error *error) {
  memset(pipelines, 0, sizeof *pipelines);
  pipelines->device = device;
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = cache_bytes ? cache_size : 0, .pInitialData = cache_bytes};
  HEED_VK_TRY(device, device->instance.api.CreatePipelineCache(device->handle, &info, NULL, &pipelines->cache), "vkCreatePipelineCache");
  return HEED_OK;
}

void heed_vk_pipelines_destroy(heed_vk_pipelines *pipelines) {
  heed_vk_device *device = pipelines->device;
  if (!device) return;
  const heed_vk_api *api = &device->instance.api;
  for (size_t i = 0; i < pipelines->count; i++) api->DestroyPipeline(device->handle, pipelines->table[i].handle, NULL);
  heed_free(device->instance.context, pipelines->table);
  for (size_t i = 0; i < pipelines->layout_count; i++) {
    if (pipelines->layouts[i].pipeline) api->DestroyPipelineLayout(device->handle, pipelines->layouts[i].pipeline, NULL);
    api->DestroyDescriptorSetLayout(device->handle, pipelines->layouts[i].set, NULL);
  }
  heed_free(device->instance.context, pipelines->layouts);
  for (size_t i = 0; i < HEED_SHADER_COUNT; i++)
    if (pipelines->modules[i]) api->DestroyShaderModule(device->handle, pipelines->modules[i], NULL);
  if (pipelines->cache) api->DestroyPipelineCache(device->handle, pipelines->cache, NULL);
  memset(pipelines, 0, sizeof *pipelines);
}

static heed_status make_layout(heed_vk_device *device, heed_vk_layout *layout, heed_error *error) {
  const heed_vk_api *api = &device->instance.api;
  VkDescriptorSetLayoutBinding slots[HEED_VK_BINDINGS];
  for (uint32_t i = 0; i < layout->bindings; i++) {
    const VkDescriptorType type = layout->texels >> i & 1u ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    slots[i] = (VkDescriptorSetLayoutBinding){i, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  }
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = layout->bindings, .pBindings = slots};
  HEED_VK_TRY(device, api->CreateDescriptorSetLayout(device->handle, &set, NULL, &layout->set), "vkCreateDescriptorSetLayout");
  const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, HEED_VK_PUSH_BYTES};
  const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &layout->set,
                                           .pushConstantRangeCount = 1,
                                           .pPushConstantRanges = &push};
  const heed_status status = heed_vk_check(device, api->CreatePipelineLayout(device->handle, &info, NULL, &layout->pipeline), "vkCreatePipelineLayout", error);
  if (status != HEED_OK) api->DestroyDescriptorSetLayout(device->handle, layout->set, NULL);
  return status;
}

heed_status heed_vk_get_layout(heed_vk_pipelines *pipelines, const heed_vk_dispatch *dispatch, heed_vk_layout *layout, heed_error *error) {
  uint32_t texels = 0;
  for (uint32_t i = 0; i < dispatch->binding_count; i++) texels |= (uint32_t)dispatch->binding[i].texels << i;
  for (size_t i = 0; i < pipelines->layout_count; i++) {
    *layout = pipelines->layouts[i];
    if (layout->bindings == dispatch->binding_count && layout->texels == texels) return HEED_OK;
  }
  if (!heed_grow(pipelines->device->instance.context, &pipelines->layouts, &pipelines->layout_capacity, pipelines->layout_count + 1, sizeof *layout))
    return heed_fail_memory(error, "vulkan: layouts", sizeof *layout);
  *layout = (heed_vk_layout){.bindings = dispatch->binding_count, .texels = texels};
  HEED_TRY(make_layout(pipelines->device, layout, error));
  pipelines->layouts[pipelines->layout_count++] = *layout;
  return HEED_OK;
}

static heed_status get_module(heed_vk_pipelines *pipelines, heed_vk_shader shader, VkShaderModule *module, heed_error *error) {
  heed_vk_device *device = pipelines->device;
  VkShaderModule *made = &pipelines->modules[shader];
  if (!*made) {
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = *modules[shader].bytes, .pCode = modules[shader].words};
    HEED_VK_TRY(device, device->instance.api.CreateShaderModule(device->handle, &info, NULL, made), "vkCreateShaderModule");
  }
  *module = *made;
  return HEED_OK;
}

static heed_status make(heed_vk_pipelines *pipelines, const heed_vk_dispatch *dispatch, VkPipeline *pipeline, heed_error *error) {
  heed_vk_device *device = pipelines->device;
  heed_vk_layout layout;
  VkShaderModule module;
  HEED_TRY(heed_vk_get_layout(pipelines, dispatch, &layout, error));
  HEED_TRY(get_module(pipelines, dispatch->shader, &module, error));
  VkSpecializationMapEntry entries[HEED_VK_CONSTANTS];
  for (uint32_t i = 0; i < dispatch->constant_count; i++) entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof(uint32_t), sizeof(uint32_t)};
  const VkSpecializationInfo constants = {dispatch->constant_count, entries, dispatch->constant_count * sizeof(uint32_t), dispatch->constants};
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                      .module = module,
                                                      .pName = "main",
                                                      .pSpecializationInfo = &constants},
                                            .layout = layout.pipeline};
  HEED_VK_TRY(device, device->instance.api.CreateComputePipelines(device->handle, pipelines->cache, 1, &info, NULL, pipeline), "vkCreateComputePipelines");
  return HEED_OK;
}

static bool same(const heed_vk_pipeline *pipeline, const heed_vk_dispatch *dispatch) {
  return pipeline->shader == dispatch->shader && pipeline->constant_count == dispatch->constant_count &&
         memcmp(pipeline->constants, dispatch->constants, dispatch->constant_count * sizeof(uint32_t)) == 0;
}

heed_status heed_vk_get_pipeline(heed_vk_pipelines *pipelines, const heed_vk_dispatch *dispatch, VkPipeline *pipeline, heed_error *error) {
  for (size_t i = 0; i < pipelines->count; i++)
    if (same(&pipelines->table[i], dispatch)) {
      *pipeline = pipelines->table[i].handle;
      return HEED_OK;
    }
  const heed_context *context = pipelines->device->instance.context;
  if (!heed_grow(context, &pipelines->table, &pipelines->capacity, pipelines->count + 1, sizeof *pipelines->table))
    return heed_fail_memory(error, "vulkan: pipelines", sizeof *pipelines->table);
  heed_vk_pipeline made = {.shader = dispatch->shader, .constant_count = dispatch->constant_count};
  memcpy(made.constants, dispatch->constants, sizeof made.constants);
  HEED_TRY(make(pipelines, dispatch, &made.handle, error));
  pipelines->table[pipelines->count++] = made;
  *pipeline = made.handle;
  return HEED_OK;
}
