/* Shared libraries of the system, opened while the program runs. */
#ifndef HEED_VULKAN_HOST_LIBRARY_H
#define HEED_VULKAN_HOST_LIBRARY_H

#include <vulkan/vulkan_core.h>

/* The Vulkan loader of this system, or a driver that stands in for it; NULL: there is none. */
void *heed_vk_library_open(void);
void heed_vk_library_close(void *library);
/* NULL: it has no such function. */
PFN_vkVoidFunction heed_vk_library_find(void *library, const char *name);
/* How a person would look for it: "libvulkan.so.1". */
extern const char heed_vk_library_name[];

#endif
