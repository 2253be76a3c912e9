/* Invocations of a subgroup that parted in a branch or loop meet again before the next shuffle:
 * kernels count on it, compilers promise it only when they are asked to. */
#ifndef HEED_VULKAN_HOST_RECONVERGENCE_H
#define HEED_VULKAN_HOST_RECONVERGENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "vulkan/host/instance.h"

/* A promise that a device can give: its extension, and the execution mode of a module. */
typedef struct heed_vk_promise {
  const char *extension, *module_extension; /* NULL: none */
  uint32_t feature, mode;                   /* structure type; number in SPIR-V */
} heed_vk_promise;

/* VkPhysicalDeviceShader..FeaturesKHR of either promise. */
typedef struct heed_vk_promise_feature {
  VkStructureType sType;
  void *pNext;
  VkBool32 promised;
} heed_vk_promise_feature;

/* The strongest promise first; NULL past the last. */
const heed_vk_promise *heed_vk_get_promise(uint32_t index);
/* Whether the device has the feature; its extension must be there. */
bool heed_vk_gives_promise(const heed_vk_instance *instance, VkPhysicalDevice physical,
                           const heed_vk_promise *promise);
heed_vk_promise_feature heed_vk_want_promise(const heed_vk_promise *promise);

/* The most words that asking adds to a module. */
#define HEED_VK_PROMISE_WORDS 16
/* Copies a module whose entry point asks for the promise; to [count + HEED_VK_PROMISE_WORDS].
 * Returns how many words; 0: the module has no subgroup operations, and *to is unset. */
size_t heed_vk_ask_promise(const heed_vk_promise *promise, const uint32_t *words, size_t count,
                           uint32_t *to);

#endif
