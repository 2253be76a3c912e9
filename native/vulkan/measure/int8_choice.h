/* Whether a device's products of int8 are right. */
#ifndef HEED_VULKAN_MEASURE_INT8_CHOICE_H
#define HEED_VULKAN_MEASURE_INT8_CHOICE_H

#include "vulkan/host/backend_state.h"

/* Before the first plan with weights in int8: runs a small product by the kernel that the limits
 * choose, and compares it with the CPU's. A kernel that is wrong is not chosen any more, and the
 * next one of matrices, dot products and floats is tried; the last is the self-check's business.
 * The cache remembers what was found. Statuses: DEVICE_LOST, OUT_OF_MEMORY. */
heed_status heed_vk_check_int8(heed_vk_backend *vulkan, heed_error *error);

#endif
