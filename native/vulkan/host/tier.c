/* Tiers by probed features: a tier is there when all below it are, and when this build has its
 * shaders. */
#include "vulkan/host/tier.h"

#include "vulkan/host/cooperative_matrix.h"
#include "vulkan/host/cooperative_matrix2.h"
#include "vulkan/host/shader_code.h"

_Static_assert((int)HEED_VULKAN_TIER_AUTO == HEED_GPU_TIER_AUTO &&
                   (int)HEED_VULKAN_TIER_FLOOR == HEED_GPU_TIER_FLOOR &&
                   (int)HEED_VULKAN_TIER_SUBGROUP == HEED_GPU_TIER_SUBGROUP &&
                   (int)HEED_VULKAN_TIER_HALF == HEED_GPU_TIER_HALF &&
                   (int)HEED_VULKAN_TIER_COOPERATIVE == HEED_GPU_TIER_COOPERATIVE &&
                   (int)HEED_VULKAN_TIER_COOPERATIVE_2 == HEED_GPU_TIER_COOPERATIVE_2,
               "vulkan.h and gpu/tier.h number the tiers alike");

const char *heed_vulkan_tier_name(heed_vulkan_tier tier) {
  return heed_gpu_tier_name((heed_gpu_tier)tier);
}

/* Shuffles alone make the sums, in an order of heed's own: what a driver's arithmetic adds up first
 * is not said anywhere. */
static bool has_subgroups(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  const VkSubgroupFeatureFlags wants = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                       VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                       VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &subgroup};
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  return subgroup.subgroupSize > 1 && (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
         (subgroup.supportedOperations & wants) == wants;
}

/* The tier half needs subgroups alone: its kernels keep fp16 in words, which every device packs and
 * unpacks (shaders/include/half.glsl). */
heed_vulkan_tier heed_vk_find_tier(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  if (!has_subgroups(instance, physical)) return HEED_VULKAN_TIER_FLOOR;
  heed_gpu_matrix halves, int8;
  heed_vk_find_matrices(instance, physical, &halves, &int8);
  if (!heed_vk_has_shader(HEED_SHADER_linear_matrix) || !halves.rows) return HEED_VULKAN_TIER_HALF;
  const heed_gpu_matrix2 matrix2 = heed_vk_find_matrix2(instance, physical);
  const bool flexible =
      heed_vk_has_shader(HEED_SHADER_linear_matrix2) && (matrix2.wide || matrix2.narrow);
  return flexible ? HEED_VULKAN_TIER_COOPERATIVE_2 : HEED_VULKAN_TIER_COOPERATIVE;
}
