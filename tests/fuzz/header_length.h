/* Mutations of a safetensors file whose header's length is no longer right: put right, so that they
 * reach past the first check. */
#ifndef HEED_TESTS_FUZZ_HEADER_LENGTH_H
#define HEED_TESTS_FUZZ_HEADER_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/* The header's length set to where the last brace is. */
static inline void fuzz_repair_length(unsigned char *bytes, size_t size) {
  size_t end = size;
  while (end > 8 && bytes[end - 1] != '}') end--;
  for (size_t i = 0; size >= 8 && i < 8; i++)
    bytes[i] = (unsigned char)((uint64_t)(end - 8) >> 8 * i);
}

#endif
