/* What forms share whose rows stay floats: groups of cpu/gemm.h. */
#ifndef HEED_CPU_WEIGHTS_FLOATS_H
#define HEED_CPU_WEIGHTS_FLOATS_H

#include "cpu/gemm.h"
#include "cpu/weights/form.h"

static inline uint32_t heed_cpu_floats_tile_rows(const heed_cpu_level_table *level) {
  (void)level;
  return HEED_TILE_ROWS;
}

static inline uint64_t heed_cpu_floats_group_bytes(const heed_cpu_level_table *level, uint64_t rows,
                                                   uint64_t depth) {
  (void)level;
  return rows * depth * sizeof(float);
}

static inline void heed_cpu_floats_pack_tile(const heed_cpu_level_table *level, const float *x,
                                             size_t depth, size_t count, size_t tile, void *group) {
  (void)level;
  heed_cpu_pack_tile(x, depth, depth, count, tile, group);
}

#endif
