/* Subgroups of a size that a pipeline requires (VK_EXT_subgroup_size_control), so that a driver
 * that could choose per kernel does not. */
#ifndef HEED_VULKAN_HOST_SUBGROUP_H
#define HEED_VULKAN_HOST_SUBGROUP_H

#include "vulkan/host/instance.h"

/* The device's usual subgroup size, where compute kernels may require it together with full
 * subgroups, and shuffle in them; 0: they may not. */
uint32_t heed_vk_find_lanes(const heed_vk_instance *instance, VkPhysicalDevice physical);
/* Features for a device to be made with, beside the extension of this name. */
void heed_vk_want_lanes(VkPhysicalDeviceSubgroupSizeControlFeatures *wants);
#define HEED_VK_LANES_EXTENSION "VK_EXT_subgroup_size_control"

#endif
