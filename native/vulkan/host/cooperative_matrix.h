/* Cooperative matrices (VK_KHR_cooperative_matrix): the shape a device multiplies in, and what must
 * be switched on for it. */
#ifndef HEED_VULKAN_HOST_COOPERATIVE_MATRIX_H
#define HEED_VULKAN_HOST_COOPERATIVE_MATRIX_H

#include "gpu/limits.h"
#include "vulkan/host/instance.h"

/* VK_KHR_cooperative_matrix under names of its own, since headers before 1.3.255 lack it and newer
 * ones have it. */
typedef struct heed_vk_matrix_features {
  VkStructureType type;
  void *next;
  VkBool32 matrix, robust_access;
} heed_vk_matrix_features;

#define HEED_VK_MATRIX_EXTENSIONS 2

/* Features and extensions for a device to be made with, beside fp16 arithmetic and subgroups of a
 * required size; `matrix` heads the chain. */
typedef struct heed_vk_matrix_wants {
  heed_vk_matrix_features matrix;
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
  const char *extensions[HEED_VK_MATRIX_EXTENSIONS];
} heed_vk_matrix_wants;

/* The first shapes of the kernels' lists that the device takes in a subgroup whose size can be
 * required: with fp16 factors and fp32 sums, and with s8 factors and s32 sums. rows 0: none, or it
 * lacks something else that the kernels need. */
void heed_vk_find_matrices(const heed_vk_instance *instance, VkPhysicalDevice physical,
                           heed_gpu_matrix *halves, heed_gpu_matrix *int8);
/* Fills *wants; the chain points into it. */
void heed_vk_want_matrix(heed_vk_matrix_wants *wants);

#endif
