/* Kernels in words: name, tier, tile and mode, for inspect --plan and bench --profile. A shader's name says which tier it is of; its tile follows from the specialisation constants that its op gave it. */
#include "gpu/kernel_names.h"

#include <string.h>

static const char *const names[HEED_SHADER_COUNT] = {
#define HEED_SHADER(name) [HEED_SHADER_##name] = #name,
#include "shader_list.h"
#undef HEED_SHADER
};

static bool begins(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

static heed_vk_tier tier_of(const char *name) {
  if (strstr(name, "_matrix2")) return HEED_VK_TIER_COOPERATIVE_2;
  if (strstr(name, "_matrix")) return HEED_VK_TIER_COOPERATIVE;
  if (strstr(name, "_half")) return HEED_VK_TIER_HALF;
  return strstr(name, "_subgroup") ? HEED_VK_TIER_SUBGROUP : HEED_VK_TIER_FLOOR;
}

/* As heed_vk_append_tile orders them: width, rows, columns, lanes, groups, ..., then sliced, or the side, or a matrix's M and N. */
static void product_tile(const char *name, const uint32_t *c, uint32_t tile[2]) {
  const bool matrix2 = strstr(name, "_matrix2") != NULL, matrix = !matrix2 && strstr(name, "_matrix");
  tile[0] = matrix2 ? c[11] : c[1] * (matrix ? c[4] * c[11] : c[11] ? 1 : c[4]);
  tile[1] = matrix2 ? c[12] : c[2] * c[3] * (matrix ? c[12] : 4);
}

/* As heed_plan_kernel has it. */
static void find_tile(const char *name, const uint32_t *c, uint32_t tile[2]) {
  tile[0] = tile[1] = 0;
  if ((begins(name, "linear") && !begins(name, "linear_sum") && !begins(name, "linear_attention")) || begins(name, "patch_embedding")) product_tile(name, c, tile);
  else if (begins(name, "attention_scores") || begins(name, "attention_values")) tile[0] = c[1], tile[1] = c[0] * c[2] * 4;
  else if (begins(name, "attention_norm") || begins(name, "softmax") || begins(name, "layer_norm")) tile[0] = c[0] / c[1], tile[1] = c[1];
  else if (begins(name, "attention_matrix")) tile[0] = c[6] * c[8], tile[1] = c[3];
  else if (begins(name, "attention") && !begins(name, "attention_mask") && !begins(name, "attention_join")) tile[0] = c[0] / c[1], tile[1] = c[1] * c[4];
}

uint32_t heed_vk_list_kernels(const heed_vk_builder *builder, heed_plan_kernel *kernels, uint32_t room) {
  uint32_t count = 0;
  for (size_t i = 0; i < builder->dispatch_count; i++) {
    const heed_vk_dispatch *dispatch = &builder->dispatches[i];
    const char *name = names[dispatch->shader];
    heed_plan_kernel kernel = {.name = name, .tier = heed_vk_tier_name(tier_of(name))};
    find_tile(name, dispatch->constants, kernel.tile);
    uint32_t k = 0;
    while (k < count && (kernels[k].name != name || memcmp(kernels[k].tile, kernel.tile, sizeof kernel.tile) != 0)) k++;
    if (k == room) continue;
    if (k == count) kernels[count++] = kernel;
    kernels[k].dispatches++;
  }
  return count;
}
