/* The time of every step of a program, by the device's own clock. */
#ifndef HEED_VULKAN_MEASURE_PROFILE_H
#define HEED_VULKAN_MEASURE_PROFILE_H

#include "vulkan/plan/commands.h"

/* Records the builder's dispatches one after another with timestamps between and runs them once:
 * microseconds[dispatch_count]. budget: as heed_vk_recording has it.
 * UNSUPPORTED where the queue has no timestamps. */
heed_status heed_vk_time(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                         const heed_vk_places *places, uint64_t budget, double *microseconds,
                         heed_error *error);
/* The same, added up by step of the plan. */
heed_status heed_vk_profile(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                            const heed_vk_places *places, uint64_t budget, heed_step_time *times,
                            heed_error *error);

#endif
