/* Asks a device for workgroup-wide matrices: extensions, features, granularities. Whatever is
 * missing, the answer is "none". */
#include "vulkan/host/cooperative_matrix2.h"

#include <string.h>

#define STRUCTURE_FEATURES ((VkStructureType)1000593000)
#define STRUCTURE_DIMENSIONS ((VkStructureType)1000593001)
#define MOST_DIMENSIONS 128
#define STEP 64

enum { COMPONENT_F16 = 0, COMPONENT_F32 = 1, SCOPE_WORKGROUP = 2 };

typedef struct dimensions_record {
  VkStructureType type;
  void *next;
  uint32_t rows, columns, depth; /* granularities of M N K */
  int32_t a, b, c, result;       /* component types */
  VkBool32 saturates;
  int32_t scope;
  uint32_t invocations;
} dimensions_record;

typedef VkResult(VKAPI_PTR *dimensions_function)(VkPhysicalDevice, uint32_t *, dimensions_record *);

const char *const heed_vk_matrix2_extensions[HEED_VK_MATRIX2_EXTENSIONS] = {
    "VK_NV_cooperative_matrix2", "VK_KHR_buffer_device_address", "VK_KHR_16bit_storage"};

static void chain(heed_vk_matrix2_wants *wants) {
  memset(wants, 0, sizeof *wants);
  wants->storage.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
  wants->address.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
  wants->address.pNext = &wants->storage;
  wants->sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES;
  wants->sizes.pNext = &wants->address;
  wants->flexible.type = STRUCTURE_FEATURES;
  wants->flexible.next = &wants->sizes;
}

void heed_vk_want_matrix2(bool reduces, bool tiles, heed_vk_matrix2_wants *wants) {
  chain(wants);
  wants->flexible.elements = wants->sizes.maintenance4 = VK_TRUE;
  wants->flexible.reductions = wants->flexible.conversions = reduces;
  if (!tiles) {
    wants->sizes.pNext = NULL;
    return;
  }
  wants->flexible.workgroup = wants->flexible.flexible = wants->flexible.tensors =
      wants->flexible.blocks = VK_TRUE;
  wants->address.bufferDeviceAddress = wants->storage.storageBuffer16BitAccess = VK_TRUE;
}

static heed_vk_matrix2_wants ask(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  heed_vk_matrix2_wants has;
  chain(&has);
  VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                   .pNext = &has.flexible};
  instance->api.GetPhysicalDeviceFeatures2(physical, &all);
  return has;
}

bool heed_vk_reduces_matrices(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  const heed_vk_matrix2_wants has = ask(instance, physical);
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &subgroup};
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  return all.properties.apiVersion >= VK_API_VERSION_1_3 && has.sizes.maintenance4 &&
         (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_VOTE_BIT) && has.flexible.reductions &&
         has.flexible.conversions && has.flexible.elements;
}

static bool has_features(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  const heed_vk_matrix2_wants has = ask(instance, physical);
  return has.sizes.maintenance4 && has.flexible.workgroup && has.flexible.flexible &&
         has.flexible.elements && has.flexible.tensors && has.flexible.blocks &&
         has.address.bufferDeviceAddress && has.storage.storageBuffer16BitAccess;
}

/* The fewest invocations, at least `least`, with which the device makes tiles of side x side. */
static uint32_t find_invocations(const dimensions_record *all, uint32_t count, uint32_t side,
                                 uint32_t least) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) {
    const dimensions_record *d = &all[i];
    const bool fits = d->rows && d->columns && d->depth && side % d->rows == 0 &&
                      side % d->columns == 0 && STEP % d->depth == 0 && d->a == COMPONENT_F16 &&
                      d->b == COMPONENT_F16 && d->c == COMPONENT_F32 &&
                      d->result == COMPONENT_F32 && d->scope == SCOPE_WORKGROUP;
    if (fits && d->invocations >= least && (!found || d->invocations < found))
      found = d->invocations;
  }
  return found;
}

heed_gpu_matrix2 heed_vk_find_matrix2(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  static const heed_gpu_matrix2 none;
  dimensions_record all[MOST_DIMENSIONS];
  uint32_t count = MOST_DIMENSIONS;
  memset(all, 0, sizeof all);
  if (!has_features(instance, physical)) return none;
  const PFN_vkVoidFunction found = instance->api.GetInstanceProcAddr(
      instance->handle, "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV");
  const dimensions_function list = (dimensions_function)found;
  if (!list) return none;
  for (uint32_t i = 0; i < MOST_DIMENSIONS; i++) all[i].type = STRUCTURE_DIMENSIONS;
  const VkResult result = list(physical, &count, all);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return none;
  return (heed_gpu_matrix2){find_invocations(all, count, 128, 256),
                            find_invocations(all, count, 64, 128)};
}
