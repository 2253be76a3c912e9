/* The SPIR-V of the shaders, by their number in the list. */
#ifndef HEED_VULKAN_HOST_SHADER_CODE_H
#define HEED_VULKAN_HOST_SHADER_CODE_H

#include "gpu/builder.h"

/* The words of a module; *bytes: their size, 0 where this build lacks the module (some need a newer
 * glslang). */
const uint32_t *heed_vk_shader_code(heed_gpu_shader shader, size_t *bytes);
bool heed_vk_has_shader(heed_gpu_shader shader);

#endif
