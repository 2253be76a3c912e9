/* Ranges of arena and scratch since the last barrier; weights are only read, and what is counted
 * has no order. */
#include "gpu/hazard.h"

static bool conflict(const heed_gpu_range *a, const heed_gpu_range *b) {
  return a->place == b->place && (a->written || b->written) && a->offset < b->offset + b->bytes &&
         b->offset < a->offset + a->bytes;
}

static bool is_shared(const heed_gpu_range *range) {
  return range->place == HEED_GPU_ARENA || range->place == HEED_GPU_SCRATCH;
}

static bool must_wait(const heed_gpu_hazards *hazards, const heed_gpu_dispatch *dispatch) {
  if (hazards->count + dispatch->binding_count > HEED_GPU_MOST_TOUCHED) return true;
  for (uint32_t i = 0; i < dispatch->binding_count; i++)
    for (uint32_t j = 0; is_shared(&dispatch->binding[i]) && j < hazards->count; j++)
      if (conflict(&dispatch->binding[i], &hazards->touched[j])) return true;
  return false;
}

bool heed_gpu_hazards_meet(heed_gpu_hazards *hazards, const heed_gpu_dispatch *dispatch) {
  const bool waits = must_wait(hazards, dispatch);
  if (waits) hazards->count = 0;
  for (uint32_t i = 0; i < dispatch->binding_count; i++)
    if (is_shared(&dispatch->binding[i])) hazards->touched[hazards->count++] = dispatch->binding[i];
  return waits;
}
