/* A Vulkan loader in front of the machine's own that behaves as MoltenVK's does: without the flag
 * that lists portable devices there is no driver, and a device must be made with
 * VK_KHR_portability_subset. test_portability is started with it as libvulkan.so.1. */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

#define SUBSET "VK_KHR_portability_subset"
#define MOST 64

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                               const char *name);

static PFN_vkVoidFunction real(VkInstance instance, const char *name) {
  static PFN_vkGetInstanceProcAddr find;
  void *library = find ? NULL : dlopen(HEED_REAL_LOADER, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
  if (symbol) memcpy(&find, &symbol, sizeof find);
  return find ? find(instance, name) : NULL;
}

static VkInstance of_devices;

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance) {
  bool asked = false;
  for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
    asked |= strcmp(info->ppEnabledExtensionNames[i],
                    VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
  if (!asked || !(info->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR))
    return VK_ERROR_INCOMPATIBLE_DRIVER;
  const VkResult result =
      ((PFN_vkCreateInstance)real(NULL, "vkCreateInstance"))(info, allocator, instance);
  of_devices = *instance;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice physical, const char *layer,
                                                      uint32_t *count, VkExtensionProperties *all) {
  const uint32_t room = *count;
  const VkResult result = ((PFN_vkEnumerateDeviceExtensionProperties)real(
      of_devices, "vkEnumerateDeviceExtensionProperties"))(physical, layer, count, all);
  if (!all)
    ++*count;
  else if (*count < room)
    snprintf(all[(*count)++].extensionName, VK_MAX_EXTENSION_NAME_SIZE, "%s", SUBSET);
  return result;
}

/* The driver behind does not know the extension. */
static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *device) {
  const char *names[MOST];
  VkDeviceCreateInfo others = *info;
  others.enabledExtensionCount = 0;
  others.ppEnabledExtensionNames = names;
  for (uint32_t i = 0; i < info->enabledExtensionCount && i < MOST; i++)
    if (strcmp(info->ppEnabledExtensionNames[i], SUBSET) != 0)
      names[others.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
  if (others.enabledExtensionCount == info->enabledExtensionCount)
    return VK_ERROR_EXTENSION_NOT_PRESENT;
  return ((PFN_vkCreateDevice)real(of_devices, "vkCreateDevice"))(physical, &others, allocator,
                                                                  device);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                               const char *name) {
  if (strcmp(name, "vkCreateInstance") == 0) return (PFN_vkVoidFunction)create_instance;
  if (strcmp(name, "vkCreateDevice") == 0) return (PFN_vkVoidFunction)create_device;
  if (strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0)
    return (PFN_vkVoidFunction)list_extensions;
  return real(instance, name);
}
