/* Kernels in words: name, tier and tile, for inspect --plan and bench --profile. */
#include "gpu/dispatch_summary.h"

#include <string.h>

static const char *const names[HEED_SHADER_COUNT] = {
#define HEED_SHADER(name) [HEED_SHADER_##name] = #name,
#include "shader_list.h"
#undef HEED_SHADER
};

const char *heed_gpu_shader_name(heed_gpu_shader shader) { return names[shader]; }

uint32_t heed_gpu_list_kernels(const heed_gpu_builder *builder, heed_plan_kernel *kernels,
                               uint32_t room) {
  uint32_t count = 0;
  for (size_t i = 0; i < builder->dispatch_count; i++) {
    const heed_gpu_dispatch *dispatch = &builder->dispatches[i];
    const char *name = heed_gpu_shader_name(dispatch->shader);
    const heed_plan_kernel kernel = {.name = name,
                                     .tier = heed_gpu_tier_name(dispatch->tier),
                                     .tile = {dispatch->tile[0], dispatch->tile[1]}};
    uint32_t k = 0;
    while (k < count && (kernels[k].name != name ||
                         memcmp(kernels[k].tile, kernel.tile, sizeof kernel.tile) != 0))
      k++;
    if (k == room) continue;
    if (k == count) kernels[count++] = kernel;
    kernels[k].dispatches++;
  }
  return count;
}
