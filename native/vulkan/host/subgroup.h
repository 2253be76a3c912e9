/* Subgroups of a size that a pipeline requires (VK_EXT_subgroup_size_control), so that a driver
 * that could choose per kernel does not. */
#ifndef HEED_VULKAN_HOST_SUBGROUP_H
#define HEED_VULKAN_HOST_SUBGROUP_H

#include "vulkan/host/instance.h"

/* A subgroup size that compute kernels can be sure of together with full subgroups, and shuffle in:
 * one that they require, or the only one that the device has. count 0: there is none. */
typedef struct heed_vk_lanes {
  uint32_t count;
  bool fixed; /* the device has no other; a driver may refuse that it is required */
} heed_vk_lanes;
/* The device's usual size; 16 on Intel's devices. */
heed_vk_lanes heed_vk_find_lanes(const heed_vk_instance *instance, VkPhysicalDevice physical);
/* The smallest subgroup that a kernel may get; 0: the driver does not say. */
uint32_t heed_vk_find_least_lanes(const heed_vk_instance *instance, VkPhysicalDevice physical);
/* Features for a device to be made with, beside the extension of this name. */
void heed_vk_want_lanes(VkPhysicalDeviceSubgroupSizeControlFeatures *wants);
#define HEED_VK_LANES_EXTENSION "VK_EXT_subgroup_size_control"

#endif
