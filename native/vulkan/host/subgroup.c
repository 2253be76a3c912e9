/* Subgroups of a required size. Intel's drivers take 8, 16 or 32 lanes a kernel, AMD's 32 or 64:
 * what gl_SubgroupSize says is sure only where the size was required. */
#include "vulkan/host/subgroup.h"

#define WIDEST 128 /* workgroup of the kernels that sum by subgroups */

void heed_vk_want_lanes(VkPhysicalDeviceSubgroupSizeControlFeatures *wants) {
  *wants = (VkPhysicalDeviceSubgroupSizeControlFeatures){
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
      .subgroupSizeControl = VK_TRUE,
      .computeFullSubgroups = VK_TRUE};
}

/* A feature that is there says that its extension is. */
static bool has_features(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  VkPhysicalDeviceSubgroupSizeControlFeatures has = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                   .pNext = &has};
  instance->api.GetPhysicalDeviceFeatures2(physical, &all);
  return has.subgroupSizeControl && has.computeFullSubgroups;
}

uint32_t heed_vk_find_lanes(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  VkPhysicalDeviceSubgroupSizeControlProperties size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &size};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &subgroup};
  if (!has_features(instance, physical)) return 0;
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  const uint32_t lanes = subgroup.subgroupSize;
  const bool usable = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                      (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) &&
                      (size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                      lanes >= size.minSubgroupSize && lanes <= size.maxSubgroupSize;
  return usable && lanes >= 4 && size.maxComputeWorkgroupSubgroups >= WIDEST / lanes ? lanes : 0;
}
