/* Dot products of four bytes (VK_KHR_shader_integer_dot_product). */
#ifndef HEED_VULKAN_HOST_INTEGER_DOT_H
#define HEED_VULKAN_HOST_INTEGER_DOT_H

#include "vulkan/host/instance.h"

#define HEED_VK_DOT_EXTENSION VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME

typedef struct heed_vk_dot {
  bool there, fast; /* fast: the device has an instruction for it */
} heed_vk_dot;

heed_vk_dot heed_vk_find_dot(const heed_vk_instance *instance, VkPhysicalDevice physical);
/* Fills the feature for a device to be made with. */
void heed_vk_want_dot(VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR *wants);

#endif
