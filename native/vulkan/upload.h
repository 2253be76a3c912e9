/* Constants from the graph into device memory, packed as the kernels read them. */
#ifndef HEED_VULKAN_UPLOAD_H
#define HEED_VULKAN_UPLOAD_H

#include "backend/backend.h"
#include "vulkan/memory.h"

/* Bytes of host memory used while packing; never less than one panel takes. */
#define HEED_VK_PACK_BYTES ((uint64_t)2 << 20)

/* Fills the blocks; hooks: phase "read", bytes of the graph's constants. */
heed_status heed_vk_upload(heed_vk_transfer *transfer, const heed_vk_builder *builder, const heed_vk_buffer *blocks, const heed_hooks *hooks, heed_error *error);

/* Host memory that packing takes for a plan. */
uint64_t heed_vk_pack_bytes(const heed_vk_builder *builder);

#endif
