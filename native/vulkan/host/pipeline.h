/* Compute pipelines of a device, one for each pair of shader and specialisation constants, made
 * once, in parallel, and kept. */
#ifndef HEED_VULKAN_HOST_PIPELINE_H
#define HEED_VULKAN_HOST_PIPELINE_H

#include "vulkan/host/device.h"

/* What a dispatch binds -> its layouts; all pipelines have the same push constant range. */
typedef struct heed_vk_layout {
  uint32_t bindings, texels; /* how many slots; bit i: slot i holds texels, else a storage buffer */
  VkDescriptorSetLayout set;
  VkPipelineLayout pipeline;
} heed_vk_layout;

typedef struct heed_vk_pipeline {
  heed_gpu_shader shader;
  uint32_t constants[HEED_GPU_CONSTANTS], constant_count, lanes;
  VkPipelineLayout layout;
  VkShaderModule module;
  VkResult result; /* of making it */
  VkPipeline handle;
} heed_vk_pipeline;

typedef struct heed_vk_pipelines {
  heed_vk_device *device;
  VkPipelineCache cache;
  VkShaderModule modules[HEED_SHADER_COUNT];
  heed_vk_layout *layouts;
  size_t layout_count, layout_capacity;
  heed_vk_pipeline *table;
  size_t count, capacity;
  double gflops; /* what the device does at best; 0: not timed yet */
} heed_vk_pipelines;

/* cache_bytes: what an earlier vkGetPipelineCacheData gave, or NULL. */
heed_status heed_vk_pipelines_create(heed_vk_device *device, const void *cache_bytes,
                                     size_t cache_size, heed_vk_pipelines *pipelines,
                                     heed_error *error);
void heed_vk_pipelines_destroy(heed_vk_pipelines *pipelines);

heed_status heed_vk_get_layout(heed_vk_pipelines *pipelines, const heed_gpu_dispatch *dispatch,
                               heed_vk_layout *layout, heed_error *error);
/* Makes those pipelines of the builder's dispatches that are not there yet, a thread a core:
 * drivers compile here (hooks: phase "pipelines"). On failure none of them stays. */
heed_status heed_vk_make_pipelines(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                                   const heed_hooks *hooks, heed_error *error);
/* One that was made. */
VkPipeline heed_vk_find_pipeline(const heed_vk_pipelines *pipelines,
                                 const heed_gpu_dispatch *dispatch);

#endif
