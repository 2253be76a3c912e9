/* The bytes of a file of the cache: eight that name the format, the key of who made it, size and
 * hash of the rest, the rest. No call of Vulkan. */
#ifndef HEED_VULKAN_HOST_CACHE_FORMAT_H
#define HEED_VULKAN_HOST_CACHE_FORMAT_H

#include <stdio.h>

#include "heed/base.h"

#define HEED_VK_CACHE_MAGIC "heedvkc1"
#define HEED_VK_CACHE_MOST ((size_t)256 << 20) /* bytes after the header */
#define HEED_VK_CACHE_KEY_MOST 256             /* bytes of a key */

/* Allocates *bytes, to be freed by heed_free. False, and NULL, where the file is not whole, of
 * another key, or damaged. */
bool heed_vk_cache_unpack(const heed_context *context, FILE *file, const void *key, size_t key_size,
                          void **bytes, size_t *size);
/* False where it could not be written whole. */
bool heed_vk_cache_pack(FILE *file, const void *key, size_t key_size, const void *bytes,
                        size_t size);

#endif
