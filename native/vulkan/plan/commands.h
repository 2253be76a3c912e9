/* Descriptor sets and command buffers of a program: recorded once, submitted as often as it
 * runs. */
#ifndef HEED_VULKAN_PLAN_COMMANDS_H
#define HEED_VULKAN_PLAN_COMMANDS_H

#include "vulkan/host/memory.h"
#include "vulkan/host/pipeline.h"

enum { HEED_VK_ENDS_STAGE = 1, HEED_VK_ENDS_SUBMISSION = 2 };

typedef struct heed_vk_commands {
  heed_vk_device *device;
  VkDescriptorPool descriptors;
  VkCommandPool pool;
  VkCommandBuffer *buffers; /* in order: at least one a stage, one a submission */
  uint8_t *ends;            /* what ends with each: HEED_VK_ENDS_... */
  uint32_t count, stages;
  uint64_t budget;     /* operations a submission; 0: no limit */
  VkBufferView *views; /* of the slots that hold texels */
  uint32_t view_count;
  VkFence fence;
} heed_vk_commands;

/* What ranges are ranges of. */
typedef struct heed_vk_places {
  heed_vk_buffer arena, scratch, counter, *blocks;
} heed_vk_places;

/* Copies from a buffer into the arena before everything, and out of it into another after. */
typedef struct heed_vk_copies {
  VkBuffer in, out;
  const VkBufferCopy *inputs;
  uint32_t input_count;
  const VkBufferCopy *outputs;
  uint32_t output_count;
} heed_vk_copies;

typedef struct heed_vk_recording {
  const heed_vk_places *places;
  VkQueryPool stamps;           /* VK_NULL_HANDLE: none */
  const heed_vk_copies *copies; /* NULL: none */
  /* most operations of one submission (gpu/split_submissions.h); 0: no limit */
  uint64_t budget;
} heed_vk_recording;

/* Records all dispatches of the builder. Barriers stand only where a dispatch meets what an earlier
 * one wrote or reads. With stamps, one query more than dispatches, each waits for the one before
 * it, and a timestamp stands before the first and after each. */
heed_status heed_vk_commands_create(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                                    const heed_vk_recording *recording, const heed_hooks *hooks,
                                    heed_vk_commands *commands, heed_error *error);
void heed_vk_commands_destroy(heed_vk_commands *commands, const heed_context *context);

/* Submits everything; its end is the fence's. */
heed_status heed_vk_commands_start(heed_vk_commands *commands, heed_error *error);
/* One submission for everything within the budget; stage by stage, with a wait after each, when the
 * caller wants to hear of progress or to cancel. */
heed_status heed_vk_commands_run(heed_vk_commands *commands, const heed_hooks *hooks,
                                 heed_error *error);

#endif
