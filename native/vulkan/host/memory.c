/* Device memory: what type a buffer gets, and copies. */
#include "vulkan/host/memory.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

#define SHARED_FLAGS                                                           \
  (VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | \
   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
#define LEAST_STAGING ((uint64_t)64 << 10)
#define VISIBLE_FLAGS (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

static bool has_flags(const heed_vk_device *device, uint32_t type, VkMemoryPropertyFlags flags) {
  return (device->memory.memoryTypes[type].propertyFlags & flags) == flags;
}

/* The first memory type of those allowed, from `first` on, that has all flags, or UINT32_MAX. */
static uint32_t find_type(const heed_vk_device *device, uint32_t first, uint32_t allowed,
                          VkMemoryPropertyFlags flags) {
  for (uint32_t i = first; i < device->memory.memoryTypeCount; i++)
    if ((allowed >> i & 1u) && has_flags(device, i, flags)) return i;
  return UINT32_MAX;
}

static uint64_t minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* What heed may still take of each heap: what the driver says is left, which other programs share,
 * or else most of the heap. */
static void find_left(const heed_vk_device *device, uint64_t left[VK_MAX_MEMORY_HEAPS]) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
  if (device->has_memory_budget)
    device->instance.api.GetPhysicalDeviceMemoryProperties2(device->physical, &memory);
  uint64_t used = 0;
  for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++) used += device->heap_used[i];
  for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++) {
    left[i] = device->has_memory_budget
                  ? minus(budget.heapBudget[i], budget.heapUsage[i])
                  : minus(device->memory.memoryHeaps[i].size / 10 * 9, device->heap_used[i]);
    if (device->memory_budget && left[i] > minus(device->memory_budget, used))
      left[i] = minus(device->memory_budget, used);
  }
}

static heed_status say_short(const heed_vk_device *device, uint64_t found, uint64_t expected,
                             heed_error *error) {
  return heed_fail(error, HEED_OUT_OF_DEVICE_MEMORY,
                   "vulkan: not enough device memory on %.200s (found %llu bytes, expected %llu)",
                   device->info.name, (unsigned long long)found, (unsigned long long)expected);
}

heed_status heed_vk_want_memory(const heed_vk_device *device, uint64_t bytes, heed_error *error) {
  uint64_t left[VK_MAX_MEMORY_HEAPS], sum = 0;
  const VkMemoryPropertyFlags flags = heed_vk_memory_is_shared(device) ? SHARED_FLAGS : 0;
  find_left(device, left);
  for (uint32_t type = 0; type < device->memory.memoryTypeCount; type++) {
    const uint32_t heap = device->memory.memoryTypes[type].heapIndex;
    if (!has_flags(device, type, flags)) continue;
    if (left[heap] > UINT64_MAX - sum) return HEED_OK;
    sum += left[heap];
    left[heap] = 0; /* counted once */
  }
  if (device->memory_budget && sum > device->memory_budget) sum = device->memory_budget;
  return bytes <= sum ? HEED_OK : say_short(device, sum, bytes, error);
}

bool heed_vk_memory_is_shared(const heed_vk_device *device) {
  return !device->test.force_staging &&
         find_type(device, 0, UINT32_MAX, SHARED_FLAGS) != UINT32_MAX;
}

static heed_status allocate(heed_vk_device *device, heed_vk_buffer *buffer,
                            const VkMemoryRequirements *needs, uint32_t type, heed_error *error) {
  uint64_t left[VK_MAX_MEMORY_HEAPS];
  const uint32_t heap = device->memory.memoryTypes[type].heapIndex;
  const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs->size,
                                     .memoryTypeIndex = type};
  find_left(device, left);
  if (needs->size > left[heap]) return say_short(device, left[heap], needs->size, error);
  if (!heed_vk_fault_allows(&device->fault, needs->size))
    return heed_vk_check(device, VK_ERROR_OUT_OF_DEVICE_MEMORY, "vkAllocateMemory", error);
  const VkResult result =
      device->instance.api.AllocateMemory(device->handle, &info, NULL, &buffer->memory);
  if (result != VK_SUCCESS) {
    heed_vk_fault_returned(&device->fault, needs->size);
    return heed_vk_check(device, result, "vkAllocateMemory", error);
  }
  buffer->allocated = needs->size;
  buffer->heap = heap;
  device->heap_used[heap] += needs->size;
  return HEED_OK;
}

/* In the first memory type that has what a wish asks for and as many bytes left; the wishes in
 * falling order. */
static heed_status allocate_by_wish(heed_vk_device *device, heed_vk_buffer *buffer,
                                    const VkMemoryRequirements *needs,
                                    const VkMemoryPropertyFlags *flags, uint32_t flag_count,
                                    heed_error *error) {
  heed_status status = HEED_UNSUPPORTED;
  heed_error latest;
  for (uint32_t i = 0; i < flag_count; i++)
    for (uint32_t type = find_type(device, 0, needs->memoryTypeBits, flags[i]); type != UINT32_MAX;
         type = find_type(device, type + 1, needs->memoryTypeBits, flags[i])) {
      /* the first wish's sentence says most */
      heed_error *to = status == HEED_UNSUPPORTED ? error : &latest;
      status = allocate(device, buffer, needs, type, to);
      if (status != HEED_OUT_OF_DEVICE_MEMORY) return status;
    }
  if (status != HEED_UNSUPPORTED) return status;
  return heed_fail(error, HEED_UNSUPPORTED, "vulkan: no memory type for a storage buffer on %s",
                   device->info.name);
}

/* flags: the wishes in falling order; the first that a type meets is taken. */
static heed_status make_buffer(heed_vk_device *device, uint64_t bytes,
                               const VkMemoryPropertyFlags *flags, uint32_t flag_count, bool map,
                               heed_vk_buffer *buffer, heed_error *error) {
  const heed_vk_api *api = &device->instance.api;
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = bytes,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
  buffer->bytes = bytes;
  HEED_VK_TRY(device, api->CreateBuffer(device->handle, &info, NULL, &buffer->handle),
              "vkCreateBuffer");
  VkMemoryRequirements needs;
  api->GetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
  HEED_TRY(allocate_by_wish(device, buffer, &needs, flags, flag_count, error));
  HEED_VK_TRY(device, api->BindBufferMemory(device->handle, buffer->handle, buffer->memory, 0),
              "vkBindBufferMemory");
  if (!map) return HEED_OK;
  void *mapped;
  HEED_VK_TRY(device, api->MapMemory(device->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
              "vkMapMemory");
  buffer->mapped = mapped;
  return HEED_OK;
}

static heed_status make_or_clean(heed_vk_device *device, uint64_t bytes,
                                 const VkMemoryPropertyFlags *flags, uint32_t flag_count, bool map,
                                 heed_vk_buffer *buffer, heed_error *error) {
  memset(buffer, 0, sizeof *buffer);
  const heed_status status = make_buffer(device, bytes ? bytes : HEED_ARENA_ALIGNMENT, flags,
                                         flag_count, map, buffer, error);
  if (status != HEED_OK) heed_vk_buffer_destroy(device, buffer);
  return status;
}

heed_status heed_vk_buffer_create(heed_vk_device *device, uint64_t bytes, heed_vk_buffer *buffer,
                                  heed_error *error) {
  const VkMemoryPropertyFlags shared[] = {SHARED_FLAGS},
                              own[] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  if (heed_vk_memory_is_shared(device))
    return make_or_clean(device, bytes, shared, 1, true, buffer, error);
  return make_or_clean(device, bytes, own, 2, false, buffer, error);
}

heed_status heed_vk_mapped_create(heed_vk_device *device, uint64_t bytes, heed_vk_buffer *buffer,
                                  heed_error *error) {
  const VkMemoryPropertyFlags flags[] = {VISIBLE_FLAGS | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                         VISIBLE_FLAGS};
  return make_or_clean(device, bytes, flags, 2, true, buffer, error);
}

/* A mapped buffer, smaller than requested where memory is short. */
static heed_status create_staging(heed_vk_device *device, uint64_t bytes, heed_vk_buffer *buffer,
                                  heed_error *error) {
  heed_status status = heed_vk_mapped_create(device, bytes, buffer, error);
  for (; status == HEED_OUT_OF_DEVICE_MEMORY && bytes > LEAST_STAGING; bytes /= 2)
    status = heed_vk_mapped_create(device, bytes / 2, buffer, error);
  return status;
}

void heed_vk_buffer_destroy(heed_vk_device *device, heed_vk_buffer *buffer) {
  const heed_vk_api *api = &device->instance.api;
  if (buffer->handle) api->DestroyBuffer(device->handle, buffer->handle, NULL);
  if (buffer->memory) {
    api->FreeMemory(device->handle, buffer->memory, NULL);
    heed_vk_fault_returned(&device->fault, buffer->allocated);
    device->heap_used[buffer->heap] -= buffer->allocated;
  }
  memset(buffer, 0, sizeof *buffer);
}

static heed_status make_transfer(heed_vk_transfer *transfer, heed_error *error) {
  heed_vk_device *device = transfer->device;
  const heed_vk_api *api = &device->instance.api;
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                        .queueFamilyIndex = device->family};
  HEED_VK_TRY(device, api->CreateCommandPool(device->handle, &pool, NULL, &transfer->pool),
              "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo commands = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = transfer->pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1};
  HEED_VK_TRY(device, api->AllocateCommandBuffers(device->handle, &commands, &transfer->commands),
              "vkAllocateCommandBuffers");
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  HEED_VK_TRY(device, api->CreateFence(device->handle, &fence, NULL, &transfer->fence),
              "vkCreateFence");
  if (heed_vk_memory_is_shared(device)) return HEED_OK;
  return create_staging(device, HEED_VK_STAGING_BYTES, &transfer->staging, error);
}

heed_status heed_vk_transfer_create(heed_vk_device *device, heed_vk_transfer *transfer,
                                    heed_error *error) {
  memset(transfer, 0, sizeof *transfer);
  transfer->device = device;
  const heed_status status = make_transfer(transfer, error);
  if (status != HEED_OK) heed_vk_transfer_destroy(transfer);
  return status;
}

void heed_vk_transfer_destroy(heed_vk_transfer *transfer) {
  heed_vk_device *device = transfer->device;
  if (!device) return;
  const heed_vk_api *api = &device->instance.api;
  heed_vk_buffer_destroy(device, &transfer->staging);
  if (transfer->fence) api->DestroyFence(device->handle, transfer->fence, NULL);
  if (transfer->pool) api->DestroyCommandPool(device->handle, transfer->pool, NULL);
  memset(transfer, 0, sizeof *transfer);
}

static heed_status begin(heed_vk_transfer *transfer, heed_error *error) {
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  HEED_VK_TRY(transfer->device,
              transfer->device->instance.api.BeginCommandBuffer(transfer->commands, &info),
              "vkBeginCommandBuffer");
  return HEED_OK;
}

/* Ends with a barrier that shows what was written to everybody, submits and waits. */
static heed_status end(heed_vk_transfer *transfer, heed_error *error) {
  const heed_vk_api *api = &transfer->device->instance.api;
  const VkMemoryBarrier barrier = {
      VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL, VK_ACCESS_TRANSFER_WRITE_BIT,
      VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
          VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
  api->CmdPipelineBarrier(transfer->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                              VK_PIPELINE_STAGE_HOST_BIT,
                          0, 1, &barrier, 0, NULL, 0, NULL);
  HEED_VK_TRY(transfer->device, api->EndCommandBuffer(transfer->commands), "vkEndCommandBuffer");
  HEED_TRY(heed_vk_submit(transfer->device, &transfer->commands, 1, transfer->fence, error));
  return heed_vk_wait(transfer->device, transfer->fence, error);
}

static heed_status copy(heed_vk_transfer *transfer, VkBuffer from, uint64_t from_offset,
                        VkBuffer to, uint64_t to_offset, uint64_t bytes, heed_error *error) {
  HEED_TRY(begin(transfer, error));
  const VkBufferCopy region = {from_offset, to_offset, bytes};
  transfer->device->instance.api.CmdCopyBuffer(transfer->commands, from, to, 1, &region);
  return end(transfer, error);
}

static heed_status want_device(const heed_vk_transfer *transfer, heed_error *error) {
  if (!transfer->device->lost) return HEED_OK;
  return heed_fail(error, HEED_DEVICE_LOST, "vulkan: device %s was lost; create a new backend",
                   transfer->device->info.name);
}

heed_status heed_vk_copy_in(heed_vk_transfer *transfer, const heed_vk_buffer *to, uint64_t offset,
                            const void *from, size_t bytes, heed_error *error) {
  HEED_TRY(want_device(transfer, error));
  if (to->mapped) {
    memcpy(to->mapped + offset, from, bytes);
    return HEED_OK;
  }
  for (size_t at = 0; at < bytes;) {
    const size_t piece =
        bytes - at < transfer->staging.bytes ? bytes - at : (size_t)transfer->staging.bytes;
    memcpy(transfer->staging.mapped, (const unsigned char *)from + at, piece);
    HEED_TRY(copy(transfer, transfer->staging.handle, 0, to->handle, offset + at, piece, error));
    at += piece;
  }
  return HEED_OK;
}

heed_status heed_vk_copy_out(heed_vk_transfer *transfer, const heed_vk_buffer *from,
                             uint64_t offset, void *to, size_t bytes, heed_error *error) {
  HEED_TRY(want_device(transfer, error));
  if (from->mapped) {
    memcpy(to, from->mapped + offset, bytes);
    return HEED_OK;
  }
  for (size_t at = 0; at < bytes;) {
    const size_t piece =
        bytes - at < transfer->staging.bytes ? bytes - at : (size_t)transfer->staging.bytes;
    HEED_TRY(copy(transfer, from->handle, offset + at, transfer->staging.handle, 0, piece, error));
    memcpy((unsigned char *)to + at, transfer->staging.mapped, piece);
    at += piece;
  }
  return HEED_OK;
}

heed_status heed_vk_clear(heed_vk_transfer *transfer, const heed_vk_buffer *buffer,
                          heed_error *error) {
  HEED_TRY(want_device(transfer, error));
  HEED_TRY(begin(transfer, error));
  transfer->device->instance.api.CmdFillBuffer(transfer->commands, buffer->handle, 0, VK_WHOLE_SIZE,
                                               0);
  return end(transfer, error);
}
