/* Asks for reconvergence where a device has it. glslang older than 14 cannot write the execution
 * mode, so it is put into the module's words. */
#include "vulkan/host/reconvergence.h"

#include <string.h>

/* Numbers of the SPIR-V specification. */
enum {
  HEADER = 5,
  OP_EXTENSION = 10,
  OP_ENTRY_POINT = 15,
  OP_EXECUTION_MODE = 16,
  OP_CAPABILITY = 17,
  OP_FUNCTION = 54,
  FIRST_SUBGROUP_CAPABILITY = 61, /* GroupNonUniform */
  LAST_SUBGROUP_CAPABILITY = 68,  /* GroupNonUniformQuad */
  COOPERATIVE_MATRIX = 6022
};

/* Not in the headers of every Vulkan that heed builds with. */
static const heed_vk_promise promises[] = {
    {"VK_KHR_shader_maximal_reconvergence", "SPV_KHR_maximal_reconvergence", 1000434000, 6023},
    {"VK_KHR_shader_subgroup_uniform_control_flow", "SPV_KHR_subgroup_uniform_control_flow",
     1000323000, 4421}};

const heed_vk_promise *heed_vk_get_promise(uint32_t index) {
  return index < sizeof promises / sizeof *promises ? &promises[index] : NULL;
}

heed_vk_promise_feature heed_vk_want_promise(const heed_vk_promise *promise) {
  return (heed_vk_promise_feature){.sType = (VkStructureType)promise->feature, .promised = VK_TRUE};
}

bool heed_vk_gives_promise(const heed_vk_instance *instance, VkPhysicalDevice physical,
                           const heed_vk_promise *promise) {
  heed_vk_promise_feature has = {.sType = (VkStructureType)promise->feature};
  VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                   .pNext = &has};
  instance->api.GetPhysicalDeviceFeatures2(physical, &all);
  return has.promised;
}

/* Where a module's sections end; the words of its entry point. */
typedef struct module_places {
  size_t capabilities, entry_points;
  uint32_t entry;
  bool has_subgroups;
} module_places;

static module_places find_places(const uint32_t *words, size_t count) {
  module_places places = {HEADER, HEADER, 0, false};
  for (size_t at = HEADER, length; at < count; at += length) {
    const uint32_t op = words[at] & 0xFFFFu;
    length = words[at] >> 16;
    if (op == OP_FUNCTION || length == 0) break;
    if (op == OP_CAPABILITY) {
      const uint32_t capability = words[at + 1];
      places.capabilities = at + length;
      places.has_subgroups |=
          (capability >= FIRST_SUBGROUP_CAPABILITY && capability <= LAST_SUBGROUP_CAPABILITY) ||
          capability == COOPERATIVE_MATRIX;
    } else if (op == OP_ENTRY_POINT) {
      places.entry = words[at + 2];
      places.entry_points = at + length;
    }
  }
  return places;
}

size_t heed_vk_ask_promise(const heed_vk_promise *promise, const uint32_t *words, size_t count,
                           uint32_t *to) {
  const module_places places = find_places(words, count);
  if (!places.has_subgroups) return 0;
  const size_t text = strlen(promise->module_extension) / sizeof(uint32_t) + 1;
  size_t at = places.capabilities;
  memcpy(to, words, at * sizeof *to);
  to[at] = (uint32_t)(text + 1) << 16 | OP_EXTENSION;
  memset(to + at + 1, 0, text * sizeof *to);
  memcpy(to + at + 1, promise->module_extension, strlen(promise->module_extension));
  at += text + 1;
  const size_t between = places.entry_points - places.capabilities;
  memcpy(to + at, words + places.capabilities, between * sizeof *to);
  at += between;
  to[at++] = 3u << 16 | OP_EXECUTION_MODE;
  to[at++] = places.entry;
  to[at++] = promise->mode;
  memcpy(to + at, words + places.entry_points, (count - places.entry_points) * sizeof *to);
  return at + count - places.entry_points;
}
