/* One array a module, as shaders/embed.cmake wrote them. */
#include "vulkan/host/shader_code.h"

#define HEED_SHADER(name)                    \
  extern const uint32_t heed_spirv_##name[]; \
  extern const size_t heed_spirv_size_##name;
#include "shader_list.h"
#undef HEED_SHADER

typedef struct module_code {
  const uint32_t *words;
  const size_t *bytes;
} module_code;

static const module_code modules[HEED_SHADER_COUNT] = {
#define HEED_SHADER(name) [HEED_SHADER_##name] = {heed_spirv_##name, &heed_spirv_size_##name},
#include "shader_list.h"
#undef HEED_SHADER
};

const uint32_t *heed_vk_shader_code(heed_gpu_shader shader, size_t *bytes) {
  *bytes = *modules[shader].bytes;
  return modules[shader].words;
}

bool heed_vk_has_shader(heed_gpu_shader shader) { return *modules[shader].bytes != 0; }
