/* The word of half.h one lane after another, for levels that no model needs it on. */
#ifndef HEED_CPU_SIMD_LANES_HALF_H
#define HEED_CPU_SIMD_LANES_HALF_H

#include "base/tensor.h"

static inline f32xN f32_widen(const uint16_t *p) {
  float lanes[HEED_SIMD_WIDTH];
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++) lanes[i] = heed_f16_to_f32(p[i]);
  return f32_load(lanes);
}

#endif
