/* Memory that lives as long as an ONNX file: taken piece by piece, given back at once. */
#ifndef HEED_ONNX_FILE_ARENA_H
#define HEED_ONNX_FILE_ARENA_H

#include "base/context.h"

typedef struct heed_onnx_arena {
  const heed_context *context;
  void **blocks;
  size_t block_count, block_capacity;
  unsigned char *next; /* of the last block */
  size_t left;
} heed_onnx_arena;

/* count * size bytes, zeroed, aligned to 16; never NULL for a count of 0. NULL when out of memory
 * or on overflow. */
void *heed_onnx_take(heed_onnx_arena *arena, uint64_t count, size_t size);
void heed_onnx_arena_free(heed_onnx_arena *arena);

#endif
