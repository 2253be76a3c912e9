/* What is reported of a kernel: its name, the tier that it needs, the part of the result that a
 * workgroup makes. */
#ifndef HEED_GPU_DISPATCH_SUMMARY_H
#define HEED_GPU_DISPATCH_SUMMARY_H

#include "gpu/builder.h"

const char *heed_gpu_shader_name(heed_gpu_shader shader);
/* The kernels of the builder's dispatches, each once, in the order in which they first run; at most
 * `room`. Returns how many. */
uint32_t heed_gpu_list_kernels(const heed_gpu_builder *builder, heed_plan_kernel *kernels,
                               uint32_t room);

#endif
