/* Whether products by cooperative matrices are worth it on a device. */
#ifndef HEED_VULKAN_MEASURE_MATRIX_CHOICE_H
#define HEED_VULKAN_MEASURE_MATRIX_CHOICE_H

#include "vulkan/host/backend_state.h"

/* Where the tier is the device's own to choose: keeps cooperative matrices if they multiply at
 * least 1.5 times as fast as fp32 does, by a measurement that the cache remembers, and goes down to
 * the tier half otherwise. An exposed extension is no evidence: some drivers emulate it. The
 * device's limits and the cache are open; pipelines are not. Statuses: DEVICE_LOST, OUT_OF_MEMORY.
 */
heed_status heed_vk_choose_matrices(heed_vk_backend *vulkan, const heed_vulkan_desc *desc,
                                    heed_error *error);

#endif
