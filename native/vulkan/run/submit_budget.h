/* How much work one submission may have on this device. */
#ifndef HEED_VULKAN_RUN_SUBMIT_BUDGET_H
#define HEED_VULKAN_RUN_SUBMIT_BUDGET_H

#include "vulkan/host/pipeline.h"

/* Most operations that one submission of these dispatches may have, so that it ends long before a
 * watchdog's seconds; 0: no limit. What a slow device of the type does is taken first; the device
 * is timed (once) when that is not enough for all of them. */
uint64_t heed_vk_find_budget(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder);

#endif
