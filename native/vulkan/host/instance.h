/* A Vulkan instance, and the messages of validation. */
#ifndef HEED_VULKAN_HOST_INSTANCE_H
#define HEED_VULKAN_HOST_INSTANCE_H

#include "heed/vulkan.h"
#include "vulkan/host/loader.h"

/* An instance on its own: enough to list devices. */
typedef struct heed_vk_instance {
  const heed_context *context;
  heed_vk_api api;
  VkInstance handle;
  VkDebugUtilsMessengerEXT messenger;
  uint32_t messages; /* warnings and errors of the validation layer */
} heed_vk_instance;

/* version: of Vulkan that will be used, at most; VK_API_VERSION_1_1 but for tiers that need
 * more. */
heed_status heed_vk_instance_create(const heed_context *context, heed_vulkan_validation validate,
                                    uint32_t version, heed_vk_instance *instance,
                                    heed_error *error);
void heed_vk_instance_destroy(heed_vk_instance *instance);

#endif
