/* Asks a device for dot products of four bytes. */
#include "vulkan/host/integer_dot.h"

/* A feature that is there says that its extension is. */
heed_vk_dot heed_vk_find_dot(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR has = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &has};
  VkPhysicalDeviceShaderIntegerDotProductPropertiesKHR speed = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES_KHR};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            .pNext = &speed};
  instance->api.GetPhysicalDeviceFeatures2(physical, &features);
  if (!has.shaderIntegerDotProduct) return (heed_vk_dot){false, false};
  instance->api.GetPhysicalDeviceProperties2(physical, &properties);
  return (heed_vk_dot){true, speed.integerDotProduct4x8BitPackedSignedAccelerated};
}

void heed_vk_want_dot(VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR *wants) {
  *wants = (VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR){
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR,
      .shaderIntegerDotProduct = VK_TRUE};
}
