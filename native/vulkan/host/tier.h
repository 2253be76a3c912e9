/* Which tier of kernels a device can run. */
#ifndef HEED_VULKAN_HOST_TIER_H
#define HEED_VULKAN_HOST_TIER_H

#include "vulkan/host/instance.h"

/* The highest tier whose features and limits the device offers. */
heed_vulkan_tier heed_vk_find_tier(const heed_vk_instance *instance, VkPhysicalDevice physical);

#endif
