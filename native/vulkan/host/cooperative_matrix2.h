/* Cooperative matrices of any size for a whole workgroup (VK_NV_cooperative_matrix2). */
#ifndef HEED_VULKAN_HOST_COOPERATIVE_MATRIX2_H
#define HEED_VULKAN_HOST_COOPERATIVE_MATRIX2_H

#include "gpu/limits.h"
#include "vulkan/host/instance.h"

/* VkPhysicalDeviceCooperativeMatrix2FeaturesNV under a name of its own, since older headers lack
 * it. */
typedef struct heed_vk_matrix2_features {
  VkStructureType type;
  void *next;
  VkBool32 workgroup, flexible, reductions, conversions, elements, tensors, blocks;
} heed_vk_matrix2_features;

#define HEED_VK_MATRIX2_EXTENSIONS 3
/* The first is all that reductions take. */
extern const char *const heed_vk_matrix2_extensions[HEED_VK_MATRIX2_EXTENSIONS];

/* For a device to be made with, beside what heed_vk_want_matrix wants; `flexible` heads the
 * chain. */
typedef struct heed_vk_matrix2_wants {
  heed_vk_matrix2_features flexible;
  VkPhysicalDeviceMaintenance4Features sizes; /* of workgroups, as SPIR-V for Vulkan 1.3 has them */
  VkPhysicalDeviceBufferDeviceAddressFeatures address;
  VkPhysicalDevice16BitStorageFeatures storage;
} heed_vk_matrix2_wants;

/* Invocations that a tile of 128 x 128 and one of 64 x 64 take, 64 values of k at a time; 0: the
 * device has not such a tile. */
heed_gpu_matrix2 heed_vk_find_matrix2(const heed_vk_instance *instance, VkPhysicalDevice physical);
/* Whether a device of Vulkan 1.3 reduces rows of matrices, calls functions for their elements and
 * converts them. */
bool heed_vk_reduces_matrices(const heed_vk_instance *instance, VkPhysicalDevice physical);
/* Fills *wants; the chain points into it. tiles: what a product of a workgroup takes. */
void heed_vk_want_matrix2(bool reduces, bool tiles, heed_vk_matrix2_wants *wants);

#endif
