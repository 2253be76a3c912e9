/* Opens the Vulkan loader and fills the function table. */
#include "vulkan/host/loader.h"

#include <string.h>

#include "base/status.h"
#include "vulkan/host/library.h"

heed_status heed_vk_open_loader(heed_vk_api *api, heed_error *error) {
  memset(api, 0, sizeof *api);
  api->library = heed_vk_library_open();
  if (!api->library)
    return heed_fail(error, HEED_NO_DEVICE,
                     "vulkan: no Vulkan loader on this machine (expected %s)",
                     heed_vk_library_name);
  api->GetInstanceProcAddr =
      (PFN_vkGetInstanceProcAddr)heed_vk_library_find(api->library, "vkGetInstanceProcAddr");
  bool complete = api->GetInstanceProcAddr != NULL;
#define HEED_VK_LOAD(name)                                                \
  if (complete) {                                                         \
    api->name = (PFN_vk##name)api->GetInstanceProcAddr(NULL, "vk" #name); \
    complete = api->name != NULL;                                         \
  }
  HEED_VK_GLOBAL_FUNCTIONS(HEED_VK_LOAD)
#undef HEED_VK_LOAD
  if (complete) return HEED_OK;
  heed_vk_close_loader(api);
  return heed_fail(error, HEED_NO_DEVICE,
                   "vulkan: the loader on this machine supports Vulkan 1.0 only (expected 1.1)");
}

void heed_vk_close_loader(heed_vk_api *api) {
  if (api->library) heed_vk_library_close(api->library);
  api->library = NULL;
}

heed_status heed_vk_load_instance(heed_vk_api *api, VkInstance instance, heed_error *error) {
  const char *missing = NULL;
#define HEED_VK_LOAD(name)                                                  \
  api->name = (PFN_vk##name)api->GetInstanceProcAddr(instance, "vk" #name); \
  if (!api->name) missing = "vk" #name;
  HEED_VK_INSTANCE_FUNCTIONS(HEED_VK_LOAD)
#undef HEED_VK_LOAD
  if (missing) return heed_fail(error, HEED_NO_DEVICE, "vulkan: the loader lacks %s", missing);
  api->CreateDebugUtilsMessengerEXT = (PFN_vkCreateDebugUtilsMessengerEXT)api->GetInstanceProcAddr(
      instance, "vkCreateDebugUtilsMessengerEXT");
  api->DestroyDebugUtilsMessengerEXT =
      (PFN_vkDestroyDebugUtilsMessengerEXT)api->GetInstanceProcAddr(
          instance, "vkDestroyDebugUtilsMessengerEXT");
  return HEED_OK;
}

heed_status heed_vk_load_device(heed_vk_api *api, VkDevice device, heed_error *error) {
  const char *missing = NULL;
#define HEED_VK_LOAD(name)                                              \
  api->name = (PFN_vk##name)api->GetDeviceProcAddr(device, "vk" #name); \
  if (!api->name) missing = "vk" #name;
  HEED_VK_DEVICE_FUNCTIONS(HEED_VK_LOAD)
#undef HEED_VK_LOAD
  return missing ? heed_fail(error, HEED_NO_DEVICE, "vulkan: the driver lacks %s", missing)
                 : HEED_OK;
}

heed_status heed_vk_result(VkResult result, const char *call, heed_error *error) {
  switch (result) {
    case VK_SUCCESS: return HEED_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return heed_fail(error, HEED_OUT_OF_MEMORY, "vulkan: %s found no host memory", call);
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return heed_fail(error, HEED_OUT_OF_DEVICE_MEMORY, "vulkan: %s found no device memory", call);
    case VK_ERROR_DEVICE_LOST:
      return heed_fail(error, HEED_DEVICE_LOST, "vulkan: the device was lost in %s", call);
    default:
      return heed_fail(error, HEED_DEVICE_FAILED, "vulkan: %s failed (VkResult %d)", call,
                       (int)result);
  }
}
