/* Files of the cache, read and written. See cache_format.h. */
#include "vulkan/host/cache_format.h"

#include <string.h>

#include "base/alloc.h"
#include "gpu/hash.h"

bool heed_vk_cache_unpack(const heed_context *context, FILE *file, const void *key, size_t key_size,
                          void **bytes, size_t *size) {
  char magic[8];
  unsigned char found[HEED_VK_CACHE_KEY_MOST];
  uint64_t of_bytes[2]; /* size, hash */
  *bytes = NULL;
  *size = 0;
  if (fread(magic, 1, sizeof magic, file) != sizeof magic ||
      fread(found, 1, key_size, file) != key_size ||
      fread(of_bytes, 1, sizeof of_bytes, file) != sizeof of_bytes)
    return false;
  if (memcmp(magic, HEED_VK_CACHE_MAGIC, sizeof magic) != 0 || memcmp(found, key, key_size) != 0 ||
      of_bytes[0] == 0 || of_bytes[0] > HEED_VK_CACHE_MOST)
    return false;
  const size_t count = (size_t)of_bytes[0];
  void *read = heed_alloc_raw(context, count, 1);
  if (read && fread(read, 1, count, file) == count && fgetc(file) == EOF &&
      heed_gpu_hash(HEED_GPU_HASH_START, read, count) == of_bytes[1]) {
    *bytes = read;
    *size = count;
    return true;
  }
  heed_free(context, read);
  return false;
}

bool heed_vk_cache_pack(FILE *file, const void *key, size_t key_size, const void *bytes,
                        size_t size) {
  const uint64_t of_bytes[2] = {size, heed_gpu_hash(HEED_GPU_HASH_START, bytes, size)};
  return fwrite(HEED_VK_CACHE_MAGIC, 1, 8, file) == 8 &&
         fwrite(key, 1, key_size, file) == key_size &&
         fwrite(of_bytes, 1, sizeof of_bytes, file) == sizeof of_bytes &&
         fwrite(bytes, 1, size, file) == size;
}
