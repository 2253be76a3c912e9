/* Weights that are stored in fp16 and stay so in memory: panels as cpu/gemm.h has them, W factors
 * (float), one per column, then halves [K][W]. A product widens a slice of a panel at a time;
 * widened and multiplied by their factors, they are the floats of the constant bit for bit. */
#ifndef HEED_CPU_HALF_H
#define HEED_CPU_HALF_H

#include "graph/halves.h"

/* Bytes of a panel, a multiple of 64. */
uint64_t heed_cpu_half_panel_bytes(uint64_t columns, uint64_t depth);
/* Packs rows [first, first + rows), at most `columns`, of numbers [rows, depth] that fp16 holds. */
void heed_cpu_half_pack_panel(const heed_halves *halves, const float *from, size_t first,
                              size_t depth, uint32_t rows, uint32_t columns, void *panel);

#endif
