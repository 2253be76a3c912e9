/* FNV-1a, 64 bits: against damage, not against malice. */
#ifndef HEED_GPU_HASH_H
#define HEED_GPU_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HEED_GPU_HASH_START UINT64_C(14695981039346656037)

/* Hash of `size` bytes after those of `hash`: HEED_GPU_HASH_START or an earlier hash. */
static inline uint64_t heed_gpu_hash(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(1099511628211);
  return hash;
}

#endif
