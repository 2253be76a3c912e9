/* Subgroups of a required size. Intel's drivers take 8, 16 or 32 lanes a kernel, AMD's 32 or 64:
 * what gl_SubgroupSize says is sure only where the size was required. */
#include "vulkan/host/subgroup.h"

#include "gpu/device_rules.h"

#define WIDEST 128 /* workgroup of the kernels that sum by subgroups */

void heed_vk_want_lanes(VkPhysicalDeviceSubgroupSizeControlFeatures *wants) {
  *wants = (VkPhysicalDeviceSubgroupSizeControlFeatures){
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
      .subgroupSizeControl = VK_TRUE,
      .computeFullSubgroups = VK_TRUE};
}

uint32_t heed_vk_find_least_lanes(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  VkPhysicalDeviceSubgroupSizeControlProperties size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &size};
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  return size.minSubgroupSize;
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

static uint32_t choose_lanes(uint32_t vendor, uint32_t usual, uint32_t narrowest) {
  const uint32_t wanted = heed_gpu_find_rules(vendor, narrowest)->lanes;
  return wanted && usual > wanted && narrowest <= wanted ? wanted : usual;
}

heed_vk_lanes heed_vk_find_lanes(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  const heed_vk_lanes none = {0, false};
  VkPhysicalDeviceSubgroupSizeControlProperties size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &size};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &subgroup};
  if (!has_features(instance, physical)) return none;
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  const heed_vk_lanes lanes = {
      choose_lanes(all.properties.vendorID, subgroup.subgroupSize, size.minSubgroupSize),
      size.minSubgroupSize == size.maxSubgroupSize};
  const bool sure = lanes.fixed || (size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
  const bool usable = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                      (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) && sure &&
                      lanes.count >= size.minSubgroupSize && lanes.count <= size.maxSubgroupSize;
  return usable && lanes.count >= 4 && size.maxComputeWorkgroupSubgroups >= WIDEST / lanes.count
             ? lanes
             : none;
}
