/* Constants from the graph into device memory, packed as the kernels read them. */
#ifndef HEED_VULKAN_PLAN_UPLOAD_H
#define HEED_VULKAN_PLAN_UPLOAD_H

#include "backend/backend.h"
#include "vulkan/host/memory.h"

/* Fills the blocks; hooks: phase "read", bytes of the graph's constants. */
heed_status heed_vk_upload(heed_vk_transfer *transfer, const heed_gpu_builder *builder,
                           const heed_vk_buffer *blocks, const heed_hooks *hooks,
                           heed_error *error);

#endif
