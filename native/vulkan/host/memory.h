/* Buffers with their own memory, and bytes in and out of them. */
#ifndef HEED_VULKAN_HOST_MEMORY_H
#define HEED_VULKAN_HOST_MEMORY_H

#include "vulkan/host/device.h"

typedef struct heed_vk_buffer {
  VkBuffer handle;
  VkDeviceMemory memory;
  uint64_t bytes, allocated;
  uint32_t heap;
  unsigned char *mapped; /* NULL when the host does not see it */
} heed_vk_buffer;

/* A storage buffer where the device likes it best; mapped when that is also cached memory of the
 * host (one memory for both). */
heed_status heed_vk_buffer_create(heed_vk_device *device, uint64_t bytes, heed_vk_buffer *buffer,
                                  heed_error *error);
/* A mapped buffer for copies. */
heed_status heed_vk_mapped_create(heed_vk_device *device, uint64_t bytes, heed_vk_buffer *buffer,
                                  heed_error *error);
void heed_vk_buffer_destroy(heed_vk_device *device, heed_vk_buffer *buffer);

/* Fails with a sentence when storage buffers of so many bytes together are more than what is
 * left. */
heed_status heed_vk_want_memory(const heed_vk_device *device, uint64_t bytes, heed_error *error);
/* Whether storage buffers of this device are mapped, so that no staging buffer is needed. */
bool heed_vk_memory_is_shared(const heed_vk_device *device);

/* Copies through a staging buffer, one submission a piece. */
typedef struct heed_vk_transfer {
  heed_vk_device *device;
  heed_vk_buffer staging; /* handle 0 when memory is shared */
  VkCommandPool pool;
  VkCommandBuffer commands;
  VkFence fence;
} heed_vk_transfer;

#define HEED_VK_STAGING_BYTES ((uint64_t)4 << 20)

heed_status heed_vk_transfer_create(heed_vk_device *device, heed_vk_transfer *transfer,
                                    heed_error *error);
void heed_vk_transfer_destroy(heed_vk_transfer *transfer);
heed_status heed_vk_copy_in(heed_vk_transfer *transfer, const heed_vk_buffer *to, uint64_t offset,
                            const void *from, size_t bytes, heed_error *error);
heed_status heed_vk_copy_out(heed_vk_transfer *transfer, const heed_vk_buffer *from,
                             uint64_t offset, void *to, size_t bytes, heed_error *error);
/* Zeros the whole buffer. */
heed_status heed_vk_clear(heed_vk_transfer *transfer, const heed_vk_buffer *buffer,
                          heed_error *error);

#endif
