/* Vulkan's functions, looked up at run time in the loader that is installed, if any. No globals:
 * every device has its own table. */
#ifndef HEED_VULKAN_HOST_LOADER_H
#define HEED_VULKAN_HOST_LOADER_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include "base/context.h"

#define HEED_VK_GLOBAL_FUNCTIONS(X)       \
  X(CreateInstance)                       \
  X(EnumerateInstanceVersion)             \
  X(EnumerateInstanceExtensionProperties) \
  X(EnumerateInstanceLayerProperties)
#define HEED_VK_INSTANCE_FUNCTIONS(X)       \
  X(DestroyInstance)                        \
  X(EnumeratePhysicalDevices)               \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceFeatures)              \
  X(GetPhysicalDeviceMemoryProperties)      \
  X(GetPhysicalDeviceMemoryProperties2)     \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(EnumerateDeviceExtensionProperties)     \
  X(CreateDevice)                           \
  X(GetDeviceProcAddr)                      \
  X(GetPhysicalDeviceFeatures2)
#define HEED_VK_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                  \
  X(GetDeviceQueue)                 \
  X(QueueSubmit)                    \
  X(DeviceWaitIdle)                 \
  X(CreateBuffer)                   \
  X(DestroyBuffer)                  \
  X(CreateBufferView)               \
  X(GetBufferMemoryRequirements)    \
  X(AllocateMemory)                 \
  X(FreeMemory)                     \
  X(BindBufferMemory)               \
  X(MapMemory)                      \
  X(CreateShaderModule)             \
  X(DestroyShaderModule)            \
  X(CreateDescriptorSetLayout)      \
  X(DestroyDescriptorSetLayout)     \
  X(CreatePipelineLayout)           \
  X(DestroyPipelineLayout)          \
  X(CreateComputePipelines)         \
  X(DestroyPipeline)                \
  X(CreatePipelineCache)            \
  X(DestroyPipelineCache)           \
  X(GetPipelineCacheData)           \
  X(CreateDescriptorPool)           \
  X(DestroyDescriptorPool)          \
  X(AllocateDescriptorSets)         \
  X(UpdateDescriptorSets)           \
  X(CreateCommandPool)              \
  X(DestroyCommandPool)             \
  X(AllocateCommandBuffers)         \
  X(BeginCommandBuffer)             \
  X(EndCommandBuffer)               \
  X(CmdBindPipeline)                \
  X(CmdBindDescriptorSets)          \
  X(CmdPushConstants)               \
  X(CmdDispatch)                    \
  X(CmdPipelineBarrier)             \
  X(CmdDispatchBase)                \
  X(CmdCopyBuffer)                  \
  X(CmdFillBuffer)                  \
  X(DestroyBufferView)              \
  X(CreateFence)                    \
  X(DestroyFence)                   \
  X(WaitForFences)                  \
  X(ResetFences)                    \
  X(CreateQueryPool)                \
  X(DestroyQueryPool)               \
  X(CmdResetQueryPool)              \
  X(CmdWriteTimestamp)              \
  X(GetQueryPoolResults)

typedef struct heed_vk_api {
  void *library;
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define HEED_VK_MEMBER(name) PFN_vk##name name;
  HEED_VK_GLOBAL_FUNCTIONS(HEED_VK_MEMBER)
  HEED_VK_INSTANCE_FUNCTIONS(HEED_VK_MEMBER)
  HEED_VK_DEVICE_FUNCTIONS(HEED_VK_MEMBER)
#undef HEED_VK_MEMBER
  PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT; /* NULL without the extension */
  PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT;
} heed_vk_api;

/* Opens the loader; NO_DEVICE when there is none. */
heed_status heed_vk_open_loader(heed_vk_api *api, heed_error *error);
void heed_vk_close_loader(heed_vk_api *api);
heed_status heed_vk_load_instance(heed_vk_api *api, VkInstance instance, heed_error *error);
heed_status heed_vk_load_device(heed_vk_api *api, VkDevice device, heed_error *error);

/* heed's status for a failed call, with a sentence that names the call. */
heed_status heed_vk_result(VkResult result, const char *call, heed_error *error);

#endif
