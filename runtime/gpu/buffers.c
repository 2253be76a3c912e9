/* See buffers.h. */
#include "gpu/buffers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

/* Behind the banks. */
enum { SCRATCH_FIRST, SCRATCH_SECOND, COUNTER, BLOCKS };

static uint32_t bank_count(const heed_gpu_buffers *buffers) {
  return buffers->builder->plan->bank_count;
}

/* A node has at most two parts of the scratch, the first at its start. */
void heed_gpu_buffers_measure(const heed_gpu_builder *builder, heed_gpu_buffers *buffers) {
  *buffers = (heed_gpu_buffers){.builder = builder};
  for (size_t i = 0; i < builder->dispatch_count; i++)
    for (uint32_t k = 0; k < builder->dispatches[i].binding_count; k++) {
      const heed_gpu_range *range = &builder->dispatches[i].binding[k];
      uint64_t *most = &buffers->scratch[range->offset != 0];
      if (range->place == HEED_GPU_SCRATCH && range->bytes > *most) *most = range->bytes;
    }
}

uint32_t heed_gpu_buffer_count(const heed_gpu_buffers *buffers) {
  return bank_count(buffers) + BLOCKS + (uint32_t)buffers->builder->block_count;
}

static uint64_t bytes_behind(const heed_gpu_buffers *buffers, uint32_t index) {
  switch (index) {
    case SCRATCH_FIRST:
    case SCRATCH_SECOND: return buffers->scratch[index - SCRATCH_FIRST];
    case COUNTER: return buffers->builder->counts ? HEED_GPU_COUNTER_BYTES : 0;
    default: return buffers->builder->blocks[index - BLOCKS];
  }
}

uint64_t heed_gpu_buffer_bytes(const heed_gpu_buffers *buffers, uint32_t buffer) {
  const uint64_t *end = buffers->builder->plan->bank_end;
  HEED_ASSERT(buffer < heed_gpu_buffer_count(buffers));
  if (buffer < bank_count(buffers)) return end[buffer] - (buffer ? end[buffer - 1] : 0);
  return heed_align_up(bytes_behind(buffers, buffer - bank_count(buffers)), 4);
}

uint32_t heed_gpu_arena_buffer(const heed_plan *plan, uint64_t *offset) {
  uint32_t bank = 0;
  while (*offset >= plan->bank_end[bank]) bank++;
  HEED_ASSERT(bank < plan->bank_count);
  if (bank) *offset -= plan->bank_end[bank - 1];
  return bank;
}

uint32_t heed_gpu_block_buffer(const heed_plan *plan, uint32_t block) {
  return plan->bank_count + BLOCKS + block;
}

uint64_t heed_gpu_workspace_bytes(const heed_gpu_buffers *buffers) {
  uint64_t bytes = 0;
  for (uint32_t i = SCRATCH_FIRST; i < BLOCKS; i++)
    bytes += heed_gpu_buffer_bytes(buffers, bank_count(buffers) + i);
  return bytes;
}

heed_status heed_gpu_buffers_fit(const heed_gpu_buffers *buffers, uint64_t most,
                                 heed_error *error) {
  for (uint32_t i = 0; i < heed_gpu_buffer_count(buffers); i++) {
    const uint64_t bytes = heed_gpu_buffer_bytes(buffers, i);
    if (bytes > most)
      return heed_fail(error, HEED_OUT_OF_DEVICE_MEMORY,
                       "plan: %s exceed a buffer of this device (found %llu bytes, expected at "
                       "most %llu): fewer images or a smaller size take less",
                       i >= bank_count(buffers) + BLOCKS ? "weights" : "values between kernels",
                       (unsigned long long)bytes, (unsigned long long)most);
  }
  return HEED_OK;
}

static uint32_t buffer_of(const heed_gpu_buffers *buffers, const heed_gpu_range *range,
                          uint64_t *offset) {
  const heed_plan *plan = buffers->builder->plan;
  *offset = range->offset;
  switch (range->place) {
    case HEED_GPU_ARENA: return heed_gpu_arena_buffer(plan, offset);
    case HEED_GPU_WEIGHTS: return heed_gpu_block_buffer(plan, range->block);
    case HEED_GPU_COUNTER: return plan->bank_count + COUNTER;
    case HEED_GPU_NOWHERE: return HEED_GPU_NO_BUFFER;
    case HEED_GPU_SCRATCH: break;
  }
  *offset = 0;
  return plan->bank_count + (range->offset ? SCRATCH_SECOND : SCRATCH_FIRST);
}

void heed_gpu_write_words(const heed_gpu_buffers *buffers, size_t index, heed_gpu_words *words) {
  const heed_gpu_dispatch *dispatch = &buffers->builder->dispatches[index];
  *words = (heed_gpu_words){.constant_count = dispatch->constant_count,
                            .push_count = dispatch->push_bytes / 4,
                            .lanes = dispatch->lanes,
                            .work = (uint32_t)((dispatch->flops + 999999) / 1000000),
                            .slot_count = dispatch->binding_count};
  memcpy(words->constants, dispatch->constants, sizeof words->constants);
  memcpy(words->push, dispatch->push, dispatch->push_bytes);
  memcpy(words->groups, dispatch->groups, sizeof words->groups);
  for (uint32_t i = 0; i < dispatch->binding_count; i++) {
    uint64_t offset;
    const heed_gpu_range *range = &dispatch->binding[i];
    words->slot[i].buffer = buffer_of(buffers, range, &offset);
    words->slot[i].offset = (uint32_t)offset;
    words->slot[i].bytes = (uint32_t)heed_align_up(range->bytes, 4);
    words->slot[i].written = range->written;
  }
}
