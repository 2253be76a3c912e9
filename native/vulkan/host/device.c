/* Devices and their queue. Features beyond core 1.1 are asked for where the device has them. */
#include "vulkan/host/device.h"

#include "gpu/device_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "vulkan/host/cooperative_matrix.h"
#include "vulkan/host/cooperative_matrix2.h"
#include "vulkan/host/integer_dot.h"
#include "vulkan/host/shader_code.h"
#include "vulkan/host/subgroup.h"
#include "vulkan/host/tier.h"

#define FEWEST_BINDINGS 8
#define FEWEST_INVOCATIONS 128
#define LEAST_SHARED 16384

static bool is_listed(const VkExtensionProperties *all, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(all[i].extensionName, name) == 0) return true;
  return false;
}

static heed_status find_extension(const heed_vk_instance *instance, VkPhysicalDevice physical,
                                  const char *name, bool *found, heed_error *error) {
  const heed_vk_api *api = &instance->api;
  uint32_t count = 0;
  *found = false;
  HEED_TRY(heed_vk_result(api->EnumerateDeviceExtensionProperties(physical, NULL, &count, NULL),
                          "vkEnumerateDeviceExtensionProperties", error));
  VkExtensionProperties *all = heed_alloc(instance->context, (size_t)count + 1, sizeof *all);
  if (!all) return heed_fail_memory(error, "vulkan: extensions", (size_t)count * sizeof *all);
  const VkResult result = api->EnumerateDeviceExtensionProperties(physical, NULL, &count, all);
  *found = result == VK_SUCCESS && is_listed(all, count, name);
  heed_free(instance->context, all);
  return heed_vk_result(result == VK_INCOMPLETE ? VK_SUCCESS : result,
                        "vkEnumerateDeviceExtensionProperties", error);
}

/* The physical devices in heed's memory, at least one. */
static heed_status list_physical(const heed_vk_instance *instance, VkPhysicalDevice **devices,
                                 uint32_t *count, heed_error *error) {
  *count = 0;
  *devices = NULL;
  const VkResult first = instance->api.EnumeratePhysicalDevices(instance->handle, count, NULL);
  /* the loader's words for drivers without a device, such as Intel's on a machine of another */
  if (first == VK_ERROR_INITIALIZATION_FAILED)
    *count = 0;
  else
    HEED_TRY(heed_vk_result(first, "vkEnumeratePhysicalDevices", error));
  if (*count == 0)
    return heed_fail(error, HEED_NO_DEVICE,
                     "vulkan: no device on this machine (the loader works, no driver offers one)");
  *devices = heed_alloc(instance->context, *count, sizeof **devices);
  if (!*devices) return heed_fail_memory(error, "vulkan: devices", *count * sizeof **devices);
  const VkResult result = instance->api.EnumeratePhysicalDevices(instance->handle, count, *devices);
  if (result == VK_SUCCESS || result == VK_INCOMPLETE) return HEED_OK;
  heed_free(instance->context, *devices);
  *devices = NULL;
  return heed_vk_result(result, "vkEnumeratePhysicalDevices", error);
}

static heed_vulkan_device_type type_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return HEED_VULKAN_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return HEED_VULKAN_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return HEED_VULKAN_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return HEED_VULKAN_CPU;
    default: return HEED_VULKAN_OTHER;
  }
}

uint32_t heed_vk_find_family(const heed_vk_instance *instance, VkPhysicalDevice physical,
                             uint32_t *stamp_bits) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16, found = UINT32_MAX;
  instance->api.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  for (uint32_t i = count; i-- > 0;)
    if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
      const bool alone = !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
      if (alone || found == UINT32_MAX || (families[found].queueFlags & VK_QUEUE_GRAPHICS_BIT))
        found = i;
    }
  *stamp_bits = found == UINT32_MAX ? 0 : families[found].timestampValidBits;
  return found;
}

static void say_unusable(heed_vulkan_device_info *info, bool has_compute) {
  if (info->api_major == 1 && info->api_minor < 1)
    snprintf(info->unusable, sizeof info->unusable, "it supports Vulkan 1.0 only (expected 1.1)");
  else if (!has_compute)
    snprintf(info->unusable, sizeof info->unusable, "it has no compute queue");
  else if (info->max_storage_buffers < FEWEST_BINDINGS)
    snprintf(info->unusable, sizeof info->unusable,
             "too few storage buffers per stage (found %u, expected %u)", info->max_storage_buffers,
             FEWEST_BINDINGS);
  else if (info->max_invocations < FEWEST_INVOCATIONS)
    snprintf(info->unusable, sizeof info->unusable,
             "workgroups are too small (found %u invocations, expected %u)", info->max_invocations,
             FEWEST_INVOCATIONS);
}

/* "0000:03:00.0"; "" where the driver does not say. */
static heed_status find_address(const heed_vk_instance *instance, VkPhysicalDevice physical,
                                char address[HEED_VULKAN_ADDRESS_SIZE], heed_error *error) {
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
      .pciDomain = UINT32_MAX};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &pci};
  address[0] = '\0';
  bool found;
  HEED_TRY(find_extension(instance, physical, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, &found, error));
  if (!found) return HEED_OK;
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  if (pci.pciDomain <= 0xFFFFu && pci.pciBus <= 0xFFu && pci.pciDevice <= 0xFFu)
    snprintf(address, HEED_VULKAN_ADDRESS_SIZE, "%04x:%02x:%02x.%x", (unsigned)pci.pciDomain,
             (unsigned)pci.pciBus, (unsigned)pci.pciDevice, (unsigned)(pci.pciFunction & 7u));
  return HEED_OK;
}

static heed_status describe(const heed_vk_instance *instance, VkPhysicalDevice physical,
                            heed_vulkan_device_info *info, VkPhysicalDeviceProperties *properties,
                            heed_error *error) {
  VkPhysicalDeviceDriverProperties driver = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &driver};
  VkPhysicalDeviceIDProperties ids = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                      .pNext = &subgroup};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &ids};
  instance->api.GetPhysicalDeviceProperties2(physical, &all);
  *properties = all.properties;
  memset(info, 0, sizeof *info);
  snprintf(info->name, sizeof info->name, "%s", all.properties.deviceName);
  snprintf(info->driver, sizeof info->driver, "%.120s%s%.120s", driver.driverName,
           driver.driverInfo[0] ? " " : "", driver.driverInfo);
  info->api_major = VK_API_VERSION_MAJOR(all.properties.apiVersion);
  info->api_minor = VK_API_VERSION_MINOR(all.properties.apiVersion);
  info->api_patch = VK_API_VERSION_PATCH(all.properties.apiVersion);
  info->type = type_of(all.properties.deviceType);
  info->vendor_id = all.properties.vendorID;
  info->device_id = all.properties.deviceID;
  memcpy(info->device_uuid, ids.deviceUUID, sizeof info->device_uuid);
  memcpy(info->driver_uuid, ids.driverUUID, sizeof info->driver_uuid);
  info->subgroup_size = subgroup.subgroupSize ? subgroup.subgroupSize : 1;
  info->tier = heed_vk_find_tier(instance, physical);
  const VkPhysicalDeviceLimits *limits = &all.properties.limits;
  info->max_invocations =
      limits->maxComputeWorkGroupInvocations < limits->maxComputeWorkGroupSize[0]
          ? limits->maxComputeWorkGroupInvocations
          : limits->maxComputeWorkGroupSize[0];
  info->max_shared_bytes = limits->maxComputeSharedMemorySize;
  info->max_push_bytes = limits->maxPushConstantsSize;
  info->max_storage_buffers = limits->maxPerStageDescriptorStorageBuffers;
  info->max_storage_range = limits->maxStorageBufferRange;
  VkPhysicalDeviceMemoryProperties memory;
  instance->api.GetPhysicalDeviceMemoryProperties(physical, &memory);
  for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info->device_memory += memory.memoryHeaps[i].size;
  uint32_t stamp_bits;
  say_unusable(info, heed_vk_find_family(instance, physical, &stamp_bits) != UINT32_MAX);
  return find_address(instance, physical, info->pci_address, error);
}

heed_status heed_vulkan_device_list(heed_context *context, heed_vulkan_device_info *infos,
                                    uint32_t *count, heed_error *error) {
  if (!context || !count)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "vulkan: NULL argument (expected context and count)");
  const uint32_t room = infos ? *count : 0;
  *count = 0;
  heed_vk_instance instance;
  HEED_TRY(heed_vk_instance_create(context, HEED_VULKAN_VALIDATE_OFF, VK_API_VERSION_1_1, &instance,
                                   error));
  VkPhysicalDevice *physical;
  heed_status status = list_physical(&instance, &physical, count, error);
  VkPhysicalDeviceProperties properties;
  for (uint32_t i = 0; status == HEED_OK && i < *count && i < room; i++)
    status = describe(&instance, physical[i], &infos[i], &properties, error);
  heed_free(context, physical);
  heed_vk_instance_destroy(&instance);
  return status;
}

uint32_t heed_vulkan_device_rank(heed_vulkan_device_type type) {
  switch (type) {
    case HEED_VULKAN_DISCRETE: return 0;
    case HEED_VULKAN_INTEGRATED: return 1;
    case HEED_VULKAN_VIRTUAL: return 2;
    case HEED_VULKAN_CPU: return 4;
    default: return 3;
  }
}

/* Chooses by index, or the best kind that can be used, of one kind the first. */
static heed_status choose(heed_vk_device *device, int32_t index,
                          VkPhysicalDeviceProperties *properties, heed_error *error) {
  VkPhysicalDevice *physical;
  uint32_t count;
  HEED_TRY(list_physical(&device->instance, &physical, &count, error));
  memset(properties, 0, sizeof *properties);
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    heed_vulkan_device_info info;
    VkPhysicalDeviceProperties its;
    if (index >= 0 && i != (uint32_t)index) continue;
    status = describe(&device->instance, physical[i], &info, &its, error);
    const bool better =
        heed_vulkan_device_rank(info.type) < heed_vulkan_device_rank(device->info.type);
    if (device->physical && (info.unusable[0] || !better)) continue;
    device->info = info;
    *properties = its;
    if (!info.unusable[0]) device->physical = physical[i];
  }
  heed_free(device->instance.context, physical);
  if (device->physical || status != HEED_OK) return status;
  if (index >= 0 && (uint32_t)index >= count)
    return heed_fail(error, HEED_NO_DEVICE,
                     "vulkan: device %d out of range (found %u devices, counted from 0)",
                     (int)index, count);
  return heed_fail(error, HEED_UNSUPPORTED, "vulkan: %s is not supported: %s", device->info.name,
                   device->info.unusable);
}

#define PORTABILITY "VK_KHR_portability_subset" /* a header of betas names it */
#define MOST_EXTENSIONS 15

/* What is switched on where the device has it. */
typedef struct device_extras {
  const char *names[MOST_EXTENSIONS];
  uint32_t count;
  VkPhysicalDeviceShaderFloat16Int8Features half_math;
} device_extras;

static bool take_extension(device_extras *extras, const VkExtensionProperties *all, uint32_t count,
                           const char *name) {
  const bool listed = is_listed(all, count, name);
  if (listed) extras->names[extras->count++] = name;
  return listed;
}

/* The strongest promise of reconvergence that the device gives. */
static void take_promise(heed_vk_device *device, device_extras *extras,
                         const VkExtensionProperties *all, uint32_t count) {
  const heed_vk_promise *promise;
  for (uint32_t i = 0; !device->promise && (promise = heed_vk_get_promise(i)); i++)
    if (is_listed(all, count, promise->extension) &&
        heed_vk_gives_promise(&device->instance, device->physical, promise) &&
        take_extension(extras, all, count, promise->extension))
      device->promise = promise;
}

static heed_status find_extras(heed_vk_device *device, device_extras *extras, heed_error *error) {
  const heed_vk_api *api = &device->instance.api;
  uint32_t count = 0;
  *extras = (device_extras){
      .half_math = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES}};
  HEED_TRY(
      heed_vk_result(api->EnumerateDeviceExtensionProperties(device->physical, NULL, &count, NULL),
                     "vkEnumerateDeviceExtensionProperties", error));
  VkExtensionProperties *all = heed_alloc(device->instance.context, (size_t)count + 1, sizeof *all);
  if (!all) return heed_fail_memory(error, "vulkan: extensions", (size_t)count * sizeof *all);
  const VkResult result =
      api->EnumerateDeviceExtensionProperties(device->physical, NULL, &count, all);
  if (result == VK_SUCCESS &&
      take_extension(extras, all, count, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME)) {
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &extras->half_math};
    api->GetPhysicalDeviceFeatures2(device->physical, &features);
    extras->half_math.shaderInt8 = device->limits.matrix8.rows != 0;
    device->has_half_math = extras->half_math.shaderFloat16;
  }
  /* a device that has it must be made with it */
  if (result == VK_SUCCESS) take_extension(extras, all, count, PORTABILITY);
  if (result == VK_SUCCESS) take_promise(device, extras, all, count);
  /* a driver may report the features without the extension */
  if (device->limits.reduces)
    device->limits.reduces =
        result == VK_SUCCESS && take_extension(extras, all, count, heed_vk_matrix2_extensions[0]);
  device->has_memory_budget =
      result == VK_SUCCESS &&
      take_extension(extras, all, count, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  heed_free(device->instance.context, all);
  return heed_vk_result(result == VK_INCOMPLETE ? VK_SUCCESS : result,
                        "vkEnumerateDeviceExtensionProperties", error);
}

static heed_status make_device(heed_vk_device *device, heed_vulkan_validation validate,
                               heed_error *error) {
  heed_vk_api *api = &device->instance.api;
  device->family = heed_vk_find_family(&device->instance, device->physical, &device->stamp_bits);
  const float priority = 1.0f;
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = device->family,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  VkPhysicalDeviceFeatures has, wants;
  api->GetPhysicalDeviceFeatures(device->physical, &has);
  memset(&wants, 0, sizeof wants);
  /* what GPU-assisted validation writes its findings with */
  if (validate == HEED_VULKAN_VALIDATE_GPU) {
    wants.fragmentStoresAndAtomics = has.fragmentStoresAndAtomics;
    wants.vertexPipelineStoresAndAtomics = has.vertexPipelineStoresAndAtomics;
    wants.shaderInt64 = has.shaderInt64;
  }
  device_extras extras;
  HEED_TRY(find_extras(device, &extras, error));
  heed_vk_matrix_wants matrix;
  heed_vk_want_matrix(&matrix);
  const bool matrices = device->limits.matrix.rows != 0;
  for (uint32_t i = 0; matrices && i < HEED_VK_MATRIX_EXTENSIONS; i++)
    extras.names[extras.count++] = matrix.extensions[i];
  /* a device with matrices has fp16 arithmetic */
  extras.half_math.pNext = matrices ? &matrix.matrix : NULL;
  heed_vk_matrix2_wants matrix2;
  const bool reduces = device->limits.reduces,
             tiles = device->limits.matrix2.wide || device->limits.matrix2.narrow;
  heed_vk_want_matrix2(reduces, tiles, &matrix2);
  for (uint32_t i = reduces; tiles && i < HEED_VK_MATRIX2_EXTENSIONS; i++)
    extras.names[extras.count++] = heed_vk_matrix2_extensions[i];
  matrix.memory_model.pNext = tiles || reduces ? &matrix2.flexible : NULL;
  VkPhysicalDeviceSubgroupSizeControlFeatures lanes;
  heed_vk_want_lanes(&lanes);
  lanes.pNext = device->has_half_math ? &extras.half_math : NULL;
  if (device->limits.required_lanes) extras.names[extras.count++] = HEED_VK_LANES_EXTENSION;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
      .pNext = device->limits.required_lanes ? &lanes : lanes.pNext,
      .pipelineExecutableInfo = VK_TRUE};
  heed_vk_promise_feature promise;
  if (device->promise) {
    promise = heed_vk_want_promise(device->promise);
    promise.pNext = statistics.pNext;
    statistics.pNext = &promise;
  }
  VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dot;
  if (device->limits.dot) {
    heed_vk_want_dot(&dot);
    extras.names[extras.count++] = HEED_VK_DOT_EXTENSION;
    dot.pNext = (void *)(uintptr_t)statistics.pNext;
    statistics.pNext = &dot;
  }
  if (device->test.statistics)
    extras.names[extras.count++] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  const VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = device->test.statistics ? &statistics : statistics.pNext,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledExtensionCount = extras.count,
      .ppEnabledExtensionNames = extras.names,
      .pEnabledFeatures = &wants};
  HEED_TRY(heed_vk_result(api->CreateDevice(device->physical, &info, NULL, &device->handle),
                          "vkCreateDevice", error));
  HEED_TRY(heed_vk_load_device(api, device->handle, error));
  api->GetDeviceQueue(device->handle, device->family, 0, &device->queue);
  return HEED_OK;
}

static uint64_t largest_of(uint64_t a, uint64_t b, uint64_t c) {
  return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

/* What desc asks for, where the device has it. */
static heed_status choose_tier(heed_vk_device *device, const heed_vulkan_desc *desc,
                               heed_error *error) {
  if (!heed_vulkan_tier_name(desc->tier))
    return heed_fail(error, HEED_INVALID_ARGUMENT, "vulkan: unknown tier (found %d)",
                     (int)desc->tier);
  if (desc->tier > device->info.tier)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "vulkan: %s lacks a feature that tier %s needs (found %s)", device->info.name,
                     heed_vulkan_tier_name(desc->tier), heed_vulkan_tier_name(device->info.tier));
  /* the last tier must be asked for: an H100 is slower by it (tests/bench/NOTES.md) */
  const heed_vulkan_tier own = device->info.tier < HEED_VULKAN_TIER_COOPERATIVE_2
                                   ? device->info.tier
                                   : HEED_VULKAN_TIER_COOPERATIVE;
  device->limits.tier = (heed_gpu_tier)(desc->tier           ? desc->tier
                                        : device->test.floor ? HEED_VULKAN_TIER_FLOOR
                                                             : own);
  return HEED_OK;
}

/* A guess that is right within a factor of two or so, since Vulkan does not tell how many
 * processors a device has: discrete ones have 30 to 150 with room for several groups each,
 * integrated and mobile ones 4 to 40. A software device has as many as cores and no use for
 * more. */
static uint32_t guess_fill(const heed_vk_device *device, bool cpu) {
  if (cpu) return 0;
  return device->info.type == HEED_VULKAN_DISCRETE || device->info.type == HEED_VULKAN_VIRTUAL ? 256
                                                                                               : 48;
}

/* AMD's devices before RDNA convert each factor in fp16 by an instruction of its own: their
 * compiler estimates 1.2 to 1.45 times the cycles of fp32 (tests/bench/NOTES.md). */
static bool gains_by_half(const heed_gpu_limits *limits) {
  return !limits->cpu && limits->tier >= HEED_GPU_TIER_HALF &&
         heed_gpu_rules(limits)->scalar_loads != HEED_GPU_SCALARS_FEW_REGISTERS;
}

/* Where the device has no instruction for them, floats are faster. */
static bool choose_dot(const heed_vk_device *device) {
  const heed_vk_dot dot = heed_vk_find_dot(&device->instance, device->physical);
  if (device->test.floor || device->test.integer_dot == 1) return false;
  return dot.there && (dot.fast || device->test.integer_dot == 2);
}

static void set_limits(heed_vk_device *device, const VkPhysicalDeviceLimits *limits,
                       const heed_vulkan_desc *desc) {
  const bool cpu = device->info.type == HEED_VULKAN_CPU && !device->test.gpu_kernels;
  const uint32_t x = limits->maxComputeWorkGroupCount[0], y = limits->maxComputeWorkGroupCount[1],
                 z = limits->maxComputeWorkGroupCount[2];
  device->limits = (heed_gpu_limits){
      .cpu = cpu,
      .software = device->info.type == HEED_VULKAN_CPU,
      .tier = device->limits.tier,
      .vendor = device->test.vendor ? device->test.vendor : device->info.vendor_id,
      .lanes = device->info.subgroup_size,
      .invocations = device->info.max_invocations,
      .shared = device->info.max_shared_bytes,
      .groups = x < y ? (x < z ? x : z) : (y < z ? y : z),
      .choice = device->test.choice,
      .fill = desc->fill ? desc->fill : guess_fill(device, cpu),
      .bindings = device->info.max_storage_buffers,
      .range = device->info.max_storage_range,
      .alignment = largest_of(limits->minStorageBufferOffsetAlignment,
                              limits->minTexelBufferOffsetAlignment, 16),
      .texels = cpu ? limits->maxTexelBufferElements : 0,
  };
  device->limits.dot = choose_dot(device);
  device->limits.least_lanes = heed_vk_find_least_lanes(&device->instance, device->physical);
  device->limits.half =
      desc->precision == HEED_VULKAN_PRECISION_F16 ||
      (desc->precision == HEED_VULKAN_PRECISION_AUTO && gains_by_half(&device->limits));
  device->limits.half_values = device->limits.half;
  if (!cpu && device->limits.tier >= HEED_GPU_TIER_SUBGROUP) {
    const heed_vk_lanes lanes = heed_vk_find_lanes(&device->instance, device->physical);
    device->limits.required_lanes = lanes.count;
    device->has_fixed_lanes = lanes.fixed;
    if (lanes.count) device->limits.lanes = lanes.count;
  }
  if (device->test.range_limit && device->test.range_limit < device->limits.range)
    device->limits.range = device->test.range_limit;
  if (!cpu && device->limits.half && device->limits.tier >= HEED_GPU_TIER_COOPERATIVE)
    heed_vk_find_matrices(&device->instance, device->physical, &device->limits.matrix,
                          &device->limits.matrix8);
  if (!cpu && device->limits.half && device->limits.tier >= HEED_GPU_TIER_COOPERATIVE_2)
    device->limits.matrix2 = heed_vk_find_matrix2(&device->instance, device->physical);
  device->limits.reduces = device->limits.matrix.rows && device->version >= VK_API_VERSION_1_3 &&
                           !device->test.keeps_strips &&
                           heed_vk_has_shader(HEED_SHADER_attention_matrix_reduce) &&
                           heed_vk_reduces_matrices(&device->instance, device->physical);
  if (!device->test.floor) return;
  device->limits.invocations = FEWEST_INVOCATIONS;
  device->limits.shared = LEAST_SHARED;
  device->limits.bindings = FEWEST_BINDINGS;
  device->limits.alignment = HEED_ARENA_ALIGNMENT;
}

static heed_status set_up(heed_vk_device *device, const heed_vulkan_desc *desc, heed_error *error) {
  VkPhysicalDeviceProperties properties;
  HEED_TRY(choose(device, desc->device, &properties, error));
  memcpy(device->pipeline_cache_uuid, properties.pipelineCacheUUID, VK_UUID_SIZE);
  device->driver_version = properties.driverVersion;
  device->stamp_period = (double)properties.limits.timestampPeriod * 1e-3;
  device->instance.api.GetPhysicalDeviceMemoryProperties(device->physical, &device->memory);
  HEED_TRY(choose_tier(device, desc, error));
  set_limits(device, &properties.limits, desc);
  /* no watchdog looks at software devices */
  device->splits_dispatches = device->test.submit_flops || device->info.type != HEED_VULKAN_CPU;
  return make_device(device, desc->validate, error);
}

heed_status heed_vk_device_create(const heed_context *context, const heed_vulkan_desc *desc,
                                  heed_vk_device *device, heed_error *error) {
  memset(device, 0, sizeof *device);
  /* some modules of the last tiers are SPIR-V of Vulkan 1.3; all others keep to 1.1, and validation
   * watches that they do */
  const bool may_be_last = !desc->tier && desc->validate == HEED_VULKAN_VALIDATE_OFF;
  device->version = may_be_last || desc->tier >= HEED_VULKAN_TIER_COOPERATIVE ? VK_API_VERSION_1_3
                                                                              : VK_API_VERSION_1_1;
  HEED_TRY(
      heed_vk_instance_create(context, desc->validate, device->version, &device->instance, error));
  if (desc->test) device->test = *desc->test;
  device->fault = (heed_vk_fault){.lose_at_submit = device->test.lose_at_submit,
                                  .memory_limit = device->test.memory_limit};
  device->memory_budget = desc->memory_budget;
  const heed_status status = set_up(device, desc, error);
  if (status != HEED_OK) heed_vk_device_destroy(device);
  return status;
}

void heed_vk_device_destroy(heed_vk_device *device) {
  if (device->handle && device->instance.api.DestroyDevice)
    device->instance.api.DestroyDevice(device->handle, NULL);
  device->handle = NULL;
  heed_vk_instance_destroy(&device->instance);
}

heed_status heed_vk_check(heed_vk_device *device, VkResult result, const char *call,
                          heed_error *error) {
  if (result == VK_ERROR_DEVICE_LOST) device->lost = true;
  return heed_vk_result(result, call, error);
}

heed_status heed_vk_submit(heed_vk_device *device, const VkCommandBuffer *buffers, uint32_t count,
                           VkFence fence, heed_error *error) {
  const heed_vk_api *api = &device->instance.api;
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .commandBufferCount = count,
                             .pCommandBuffers = buffers};
  if (device->lost || heed_vk_fault_loses(&device->fault)) {
    api->DeviceWaitIdle(device->handle);
    return heed_vk_check(device, VK_ERROR_DEVICE_LOST, "vkQueueSubmit", error);
  }
  const VkResult result = api->QueueSubmit(device->queue, 1, &info, fence);
  if (result != VK_SUCCESS) api->DeviceWaitIdle(device->handle);
  return heed_vk_check(device, result, "vkQueueSubmit", error);
}

heed_status heed_vk_wait(heed_vk_device *device, VkFence fence, heed_error *error) {
  const heed_vk_api *api = &device->instance.api;
  HEED_VK_TRY(device, api->WaitForFences(device->handle, 1, &fence, VK_TRUE, UINT64_MAX),
              "vkWaitForFences");
  HEED_VK_TRY(device, api->ResetFences(device->handle, 1, &fence), "vkResetFences");
  return HEED_OK;
}
