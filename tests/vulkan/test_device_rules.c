/* What is chosen of a device by what it says of itself: tier, subgroup size, queue family, and the
 * order of kinds of devices. The devices are played by tables of functions: no driver is needed. */
#include <string.h>

#include "support/test.h"
#include "vulkan/host/cooperative_matrix.h"
#include "vulkan/host/device.h"
#include "vulkan/host/shader_code.h"
#include "vulkan/host/subgroup.h"
#include "vulkan/host/tier.h"

/* What the played device says. */
static struct {
  uint32_t vendor, lanes, narrowest, widest;
  VkShaderStageFlags required; /* stages that may require a size */
  bool half_math, size_control, matrices;
  VkQueueFamilyProperties families[4];
  uint32_t family_count;
} played;

/* The structures of a chain that begin with a type and the next one. */
static void *find(void *chain, int type) {
  VkBaseOutStructure *s = chain;
  while (s && (int)s->sType != type) s = s->pNext;
  return s;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical,
                                                 VkPhysicalDeviceProperties2 *all) {
  (void)physical;
  VkPhysicalDeviceSubgroupProperties *subgroup =
      find(all, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
  VkPhysicalDeviceSubgroupSizeControlProperties *size =
      find(all, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
  all->properties.vendorID = played.vendor;
  if (subgroup) {
    subgroup->subgroupSize = played.lanes;
    subgroup->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    subgroup->supportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                    VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                    VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  }
  if (!size) return;
  size->minSubgroupSize = played.narrowest;
  size->maxSubgroupSize = played.widest;
  size->maxComputeWorkgroupSubgroups = 64;
  size->requiredSubgroupSizeStages = played.required;
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice physical,
                                               VkPhysicalDeviceFeatures2 *all) {
  (void)physical;
  VkPhysicalDeviceSubgroupSizeControlFeatures *size =
      find(all, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  VkPhysicalDeviceShaderFloat16Int8Features *half =
      find(all, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
  if (size) size->subgroupSizeControl = size->computeFullSubgroups = played.size_control;
  if (half) half->shaderFloat16 = played.half_math;
  heed_vk_matrix_wants wants;
  heed_vk_want_matrix(&wants);
  VkPhysicalDeviceVulkanMemoryModelFeatures *model =
      find(all, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES);
  if (model) model->vulkanMemoryModel = model->vulkanMemoryModelDeviceScope = played.matrices;
  void *matrix = find(all, (int)wants.matrix.type);
  if (!matrix) return;
  wants.matrix.matrix = played.matrices;
  wants.matrix.next = ((VkBaseOutStructure *)matrix)->pNext;
  memcpy(matrix, &wants.matrix, sizeof wants.matrix);
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice physical, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
  (void)physical;
  *count = played.family_count;
  memcpy(families, played.families, *count * sizeof *families);
}

/* As VkCooperativeMatrixPropertiesKHR, of 16 x 16 x 16 fp16 with sums in fp32. */
static VKAPI_ATTR VkResult VKAPI_CALL list_matrices(VkPhysicalDevice physical, uint32_t *count,
                                                    void *shapes) {
  (void)physical;
  const uint32_t sizes[] = {16, 16, 16, 0, 0, 1, 1, 0, 3};
  memcpy((char *)shapes + sizeof(VkBaseOutStructure), sizes, sizeof sizes);
  *count = 1;
  return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_function(VkInstance instance,
                                                             const char *name) {
  (void)instance;
  return strcmp(name, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR") == 0
             ? (PFN_vkVoidFunction)list_matrices
             : NULL;
}

static const heed_vk_instance instance = {
    .api = {.GetInstanceProcAddr = get_function,
            .GetPhysicalDeviceProperties2 = get_properties,
            .GetPhysicalDeviceFeatures2 = get_features,
            .GetPhysicalDeviceQueueFamilyProperties = get_families}};

/* As NVK shows it: 32 lanes and no others, which no pipeline may require. */
static int play(void **state) {
  (void)state;
  memset(&played, 0, sizeof played);
  played.vendor = 0x10DE;
  played.lanes = played.narrowest = played.widest = 32;
  played.half_math = played.size_control = played.matrices = true;
  return 0;
}

static void test_fixed_lanes_keep_matrices(void **state) {
  (void)state;
  const heed_vk_lanes lanes = heed_vk_find_lanes(&instance, NULL);
  assert_int_equal(lanes.count, 32);
  assert_true(lanes.fixed);
  heed_gpu_matrix halves, int8;
  heed_vk_find_matrices(&instance, NULL, &halves, &int8);
  assert_int_equal(halves.rows, 16);
  assert_int_equal(halves.lanes, 32);
  const heed_vulkan_tier tier = heed_vk_find_tier(&instance, NULL);
  assert_int_equal(tier, heed_vk_has_shader(HEED_SHADER_linear_matrix)
                             ? HEED_VULKAN_TIER_COOPERATIVE
                             : HEED_VULKAN_TIER_HALF);
  /* a size that may be another one and cannot be required is none */
  played.narrowest = 16;
  assert_int_equal(heed_vk_find_lanes(&instance, NULL).count, 0);
  assert_int_equal(heed_vk_find_tier(&instance, NULL), HEED_VULKAN_TIER_HALF);
}

/* As Adreno 618 shows it: neither storage nor arithmetic of 16 bits. */
static void test_half_needs_subgroups_alone(void **state) {
  (void)state;
  played.half_math = played.size_control = played.matrices = false;
  assert_int_equal(heed_vk_find_tier(&instance, NULL), HEED_VULKAN_TIER_HALF);
  played.lanes = 1;
  assert_int_equal(heed_vk_find_tier(&instance, NULL), HEED_VULKAN_TIER_FLOOR);
}

/* At 32 lanes a lane of Intel's has half the registers. */
static void test_intel_has_sixteen_lanes(void **state) {
  (void)state;
  played.vendor = 0x8086;
  played.narrowest = 8;
  played.required = VK_SHADER_STAGE_COMPUTE_BIT;
  assert_int_equal(heed_vk_find_lanes(&instance, NULL).count, 16);
  played.vendor = 0x1002;
  assert_int_equal(heed_vk_find_lanes(&instance, NULL).count, 32);
}

static void test_family_for_compute_alone(void **state) {
  (void)state;
  uint32_t bits;
  const VkQueueFlags both = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  const VkQueueFlags flags[] = {both, VK_QUEUE_TRANSFER_BIT, VK_QUEUE_COMPUTE_BIT,
                                VK_QUEUE_COMPUTE_BIT};
  for (uint32_t i = 0; i < 4; i++)
    played.families[i] = (VkQueueFamilyProperties){flags[i], 1, 30 + i, {1, 1, 1}};
  played.family_count = 4;
  assert_int_equal(heed_vk_find_family(&instance, NULL, &bits), 2);
  assert_int_equal(bits, 32);
  played.family_count = 2;
  assert_int_equal(heed_vk_find_family(&instance, NULL, &bits), 0);
  played.families[0].queueFlags = VK_QUEUE_TRANSFER_BIT;
  assert_int_equal(heed_vk_find_family(&instance, NULL, &bits), UINT32_MAX);
}

static void test_order_of_kinds(void **state) {
  (void)state;
  const heed_vulkan_device_type order[] = {HEED_VULKAN_DISCRETE, HEED_VULKAN_INTEGRATED,
                                           HEED_VULKAN_VIRTUAL, HEED_VULKAN_OTHER, HEED_VULKAN_CPU};
  for (uint32_t i = 0; i < 5; i++) assert_int_equal(heed_vulkan_device_rank(order[i]), i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_fixed_lanes_keep_matrices, play),
                                     cmocka_unit_test_setup(test_half_needs_subgroups_alone, play),
                                     cmocka_unit_test_setup(test_intel_has_sixteen_lanes, play),
                                     cmocka_unit_test_setup(test_family_for_compute_alone, play),
                                     cmocka_unit_test(test_order_of_kinds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
