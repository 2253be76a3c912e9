/* Products in bf16: weights of linear and patch embedding are rounded to bf16 when they are packed,
 * rows on the way, both to nearest even. Sums are floats, in pairs along the depth: the same bits
 * for any number of threads. Numbers below 2^-126 count as 0, as the instruction takes them.
 *
 * A matrix [N, K] is kept as panels [ceil(K / 2)][W][2], W = HEED_TILE_COLUMNS, zeros where there
 * is none. Rows are packed by tiles, [ceil(K / 2)][rows][2]. */
#ifndef HEED_CPU_WEIGHTS_BF16_H
#define HEED_CPU_WEIGHTS_BF16_H

#include "cpu/cpu_op.h"

struct heed_cpu_product;

/* The level's way of multiplying. */
typedef struct heed_cpu_bf16 {
  uint32_t rows; /* of a tile */
  /* Packs `rows` rows (at most W) of a matrix [N, depth] into one panel. */
  void (*pack_panel)(const float *from, size_t depth, uint32_t rows, void *panel);
  /* Packs m rows [m, depth], at most a tile's. */
  void (*pack_tile)(const float *x, size_t depth, size_t m, void *tile);
  /* As heed_cpu_product_panel, where the product's panels are of bf16 and the group's tiles too. */
  void (*product_panel)(const struct heed_cpu_product *product, const unsigned char *group,
                        size_t first, size_t count, size_t panel, float *sums);
} heed_cpu_bf16;

/* Bytes of a packed row or column. */
static inline size_t heed_cpu_bf16_row_bytes(uint64_t depth) {
  return (size_t)heed_cpu_divide_up(depth, 2) * 4;
}

#endif
