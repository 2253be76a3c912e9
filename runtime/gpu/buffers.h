/* A plan's memory as buffers, for hosts that let no dispatch read and write one buffer (WebGPU):
 * the arena's banks, two of scratch, the counter, the weights' blocks, in this order. And a
 * dispatch as words, which such a host takes. */
#ifndef HEED_GPU_BUFFERS_H
#define HEED_GPU_BUFFERS_H

#include "gpu/builder.h"

#define HEED_GPU_NO_BUFFER UINT32_MAX

/* Of a builder whose plan is built. */
typedef struct heed_gpu_buffers {
  const heed_gpu_builder *builder;
  /* What a node has at the start of the scratch, and what it has behind that. */
  uint64_t scratch[2];
} heed_gpu_buffers;

void heed_gpu_buffers_measure(const heed_gpu_builder *builder, heed_gpu_buffers *buffers);
uint32_t heed_gpu_buffer_count(const heed_gpu_buffers *buffers);
/* A multiple of 4; 0: it is not used. */
uint64_t heed_gpu_buffer_bytes(const heed_gpu_buffers *buffers, uint32_t buffer);
/* Where bytes of the arena lie, and those of a weight block. */
uint32_t heed_gpu_arena_buffer(const heed_plan *plan, uint64_t *offset);
uint32_t heed_gpu_block_buffer(const heed_plan *plan, uint32_t block);
/* Bytes of all buffers but the weights' and the arena. */
uint64_t heed_gpu_workspace_bytes(const heed_gpu_buffers *buffers);
/* Whether no buffer exceeds `most` bytes; else OUT_OF_DEVICE_MEMORY. */
heed_status heed_gpu_buffers_fit(const heed_gpu_buffers *buffers, uint64_t most, heed_error *error);

/* A dispatch in words of 32 bits. */
typedef struct heed_gpu_words {
  uint32_t constant_count, constants[HEED_GPU_CONSTANTS];
  uint32_t push_count, push[HEED_GPU_PUSH_BYTES / 4];
  uint32_t groups[3];
  uint32_t lanes; /* as heed_gpu_dispatch */
  uint32_t work;  /* millions of operations, rounded up */
  uint32_t slot_count;
  struct {
    uint32_t buffer; /* HEED_GPU_NO_BUFFER: without meaning */
    uint32_t offset, bytes, written;
  } slot[HEED_GPU_BINDINGS];
} heed_gpu_words;
/* Of the builder's dispatch of this index. */
void heed_gpu_write_words(const heed_gpu_buffers *buffers, size_t index, heed_gpu_words *words);

#endif
