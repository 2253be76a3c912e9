/* Physical device, logical device and one queue. */
#ifndef HEED_VULKAN_HOST_DEVICE_H
#define HEED_VULKAN_HOST_DEVICE_H

#include "gpu/builder.h"
#include "heed/vulkan_test.h"
#include "vulkan/host/fault.h"
#include "vulkan/host/instance.h"
#include "vulkan/host/reconvergence.h"

typedef struct heed_vk_device {
  heed_vk_instance instance;
  VkPhysicalDevice physical;
  VkDevice handle;
  VkQueue queue;
  uint32_t family;
  heed_vulkan_device_info info;
  uint32_t version; /* of Vulkan that the instance was made for */
  uint8_t pipeline_cache_uuid[VK_UUID_SIZE];
  uint32_t driver_version;
  uint32_t stamp_bits; /* of a timestamp of the queue; 0: it has none */
  double stamp_period; /* microseconds a tick */
  VkPhysicalDeviceMemoryProperties memory;
  bool has_memory_budget;                  /* the driver says what is left of each heap */
  uint64_t memory_budget;                  /* as desc has it */
  uint64_t heap_used[VK_MAX_MEMORY_HEAPS]; /* by heed */
  heed_gpu_limits limits;
  heed_vulkan_test test; /* as desc has it, or zeros */
  heed_vk_fault fault;
  bool splits_dispatches; /* pipelines may be dispatched from a base */
  bool lost;
  bool has_half_math;             /* arithmetic in fp16 */
  const heed_vk_promise *promise; /* of reconvergence, that kernels ask for; NULL: none */
  bool has_fixed_lanes;           /* subgroups have one size, which pipelines need not require */
} heed_vk_device;

/* Leaves *device ready, or destroyed. */
heed_status heed_vk_device_create(const heed_context *context, const heed_vulkan_desc *desc,
                                  heed_vk_device *device, heed_error *error);
void heed_vk_device_destroy(heed_vk_device *device);

/* The first queue family for compute without graphics, whose long runs leave a desktop alone; else
 * the first with compute, or UINT32_MAX. *stamp_bits: of its timestamps. */
uint32_t heed_vk_find_family(const heed_vk_instance *instance, VkPhysicalDevice physical,
                             uint32_t *stamp_bits);

/* heed_vk_result, and remembers when the device is lost. */
heed_status heed_vk_check(heed_vk_device *device, VkResult result, const char *call,
                          heed_error *error);
/* Submits command buffers; fence may be none. A failure leaves nothing running. */
heed_status heed_vk_submit(heed_vk_device *device, const VkCommandBuffer *buffers, uint32_t count,
                           VkFence fence, heed_error *error);
/* Waits for the fence of what was submitted, and resets it. */
heed_status heed_vk_wait(heed_vk_device *device, VkFence fence, heed_error *error);

#define HEED_VK_TRY(device, call, name) HEED_TRY(heed_vk_check((device), (call), (name), error))

#endif
