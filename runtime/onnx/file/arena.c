/* Memory of an ONNX file. See arena.h. */
#include "onnx/file/arena.h"

#include "base/alloc.h"

#define BLOCK_BYTES 65536u

static void *add_block(heed_onnx_arena *arena, size_t bytes) {
  if (!heed_grow(arena->context, &arena->blocks, &arena->block_capacity, arena->block_count + 1,
                 sizeof *arena->blocks))
    return NULL;
  void *block = heed_alloc(arena->context, bytes, 1);
  if (block) arena->blocks[arena->block_count++] = block;
  return block;
}

void *heed_onnx_take(heed_onnx_arena *arena, uint64_t count, size_t size) {
  uint64_t bytes;
  if (!heed_u64_mul(count ? count : 1, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
  bytes = heed_align_up(bytes, 16);
  if (bytes > BLOCK_BYTES / 4) return add_block(arena, (size_t)bytes);
  if (bytes > arena->left) {
    arena->next = add_block(arena, BLOCK_BYTES);
    arena->left = arena->next ? BLOCK_BYTES : 0;
    if (!arena->next) return NULL;
  }
  void *taken = arena->next;
  arena->next += bytes;
  arena->left -= (size_t)bytes;
  return taken;
}

void heed_onnx_arena_free(heed_onnx_arena *arena) {
  for (size_t i = 0; i < arena->block_count; i++) heed_free(arena->context, arena->blocks[i]);
  if (arena->context) heed_free(arena->context, arena->blocks);
  *arena = (heed_onnx_arena){.context = arena->context};
}
