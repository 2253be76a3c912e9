/* Matrix products over packed panels: the inner tile, packing, and the epilogue that finishes a
 * tile.
 *
 * A matrix [N, K] (PyTorch's order: row n is output column n) is kept as panels [ceil(N /
 * W)][K][W], W = HEED_TILE_COLUMNS, zeros in the missing columns, so that a tile reads it straight
 * down. The rows that are multiplied are packed too, by groups: slices of the depth, in each the
 * group's tiles [k][rows], the last tile with the rows that are left; a group takes rows * depth
 * floats. */
#ifndef HEED_CPU_GEMM_H
#define HEED_CPU_GEMM_H

#include "cpu/cpu_op.h"
#include "cpu/simd/f32xN.h"

/* Calls for memory that will be read, or written, soon. */
#if defined(__GNUC__)
#define HEED_PREFETCH(p) __builtin_prefetch(p)
#define HEED_PREFETCH_WRITE(p) __builtin_prefetch(p, 1)
#else
#define HEED_PREFETCH(p) (void)(p)
#define HEED_PREFETCH_WRITE(p) (void)(p)
#endif
/* out [m, W] = (add ? out : 0) + x [m, k] times panel [k, W]; m <= HEED_TILE_ROWS; strides in
 * floats. The sum over k runs in order, then out is added. */
void HEED_CPU_SYMBOL(heed_cpu_tile)(uint32_t m, const float *x, size_t x_stride, const float *panel,
                                    size_t panel_stride, size_t k, float *out, size_t out_stride,
                                    bool add);

/* The same of a transposed x [k, x_stride], whose first m columns are the rows, and of a panel
 * whose stride is W. */
void HEED_CPU_SYMBOL(heed_cpu_turned_tile)(uint32_t m, const float *x, size_t x_stride,
                                           const float *panel, size_t k, float *out,
                                           size_t out_stride, bool add);

/* The first vector of the columns alone, to out [m, HEED_SIMD_WIDTH]; for where HEED_TILE_NARROW is
 * not 0. */
void HEED_CPU_SYMBOL(heed_cpu_narrow_tile)(uint32_t m, const float *x, size_t x_stride,
                                           const float *panel, size_t panel_stride, size_t k,
                                           float *out, size_t out_stride);

void HEED_CPU_SYMBOL(heed_cpu_pack_panel)(const float *from, size_t depth, uint32_t rows,
                                          float *panel);

/* Packs rows [tile * HEED_TILE_ROWS, ...) of a group of `count` rows into the group; x points at
 * the tile's first row. */
void HEED_CPU_SYMBOL(heed_cpu_pack_tile)(const float *x, size_t stride, size_t depth, size_t count,
                                         size_t tile, float *group);

/* x[count] = activation(x) in place (cpu/activation.c). */
void HEED_CPU_SYMBOL(heed_cpu_activate)(heed_activation kind, const float *from, float *to,
                                        size_t count);

/* A product y = activation(x weight^T + bias) + residual, as linear and patch embedding run it. */
typedef struct heed_cpu_product {
  size_t rows, depth, columns;  /* x [rows, depth], given apart */
  const float *panels;          /* of f32, or of another form (cpu/weights) */
  const float *bias, *residual; /* bias [columns], residual [rows, columns]; or NULL */
  heed_activation activation;
  float *y;
  /* y is [rows, columns] where heads is 0, else [parts, B, heads, tokens, head_depth] with rows = B
   * tokens. */
  size_t heads, tokens, head_depth;
} heed_cpu_product;

/* Depth of a panel that is summed at a time at most. Sums of slices that are added up lose less
 * than one long chain (pairwise summation, Higham 1993): at K = 128 and outputs near 40 the error
 * halves, for some 5 % of speed at K = 3072. Tiles of two rows are called more often, so their
 * slices are longer: half of K = 128 still. */
#define HEED_CPU_DEPTH_SLICE (HEED_TILE_ROWS > 2 ? 64u : 120u)

/* Depth of a slice: their number depends on the depth alone, and so does the order of the sum. */
static inline size_t heed_cpu_slice_depth(size_t depth) {
  return heed_cpu_parts(depth, heed_cpu_parts(depth, HEED_CPU_DEPTH_SLICE));
}

/* One slice of the sum over the depth, for `count` packed rows: sums [count, W], `stride` apart, =
 * (add ? sums : 0) + rows times that part of a panel of floats, [depth, W]. */
void HEED_CPU_SYMBOL(heed_cpu_add_slice)(const float *rows, size_t count, const float *panel,
                                         size_t depth, bool add, float *sums, size_t stride);

/* Rows [first, first + count), packed as `group`, of the product's columns of panel `panel`. sums:
 * count rounded up to whole tiles, times HEED_TILE_COLUMNS floats of scratch. */
void HEED_CPU_SYMBOL(heed_cpu_product_panel)(const heed_cpu_product *product, const float *group,
                                             size_t first, size_t count, size_t panel, float *sums);

/* Bias, activation, residual, and out of `count` rows of sums of a panel into y. */
void HEED_CPU_SYMBOL(heed_cpu_finish)(const heed_cpu_product *product, float *sums, size_t first,
                                      size_t count, size_t panel);

#define heed_cpu_add_slice HEED_CPU_SYMBOL(heed_cpu_add_slice)
#define heed_cpu_finish HEED_CPU_SYMBOL(heed_cpu_finish)

#define heed_cpu_narrow_tile HEED_CPU_SYMBOL(heed_cpu_narrow_tile)
#define heed_cpu_tile HEED_CPU_SYMBOL(heed_cpu_tile)
#define heed_cpu_pack_panel HEED_CPU_SYMBOL(heed_cpu_pack_panel)
#define heed_cpu_pack_tile HEED_CPU_SYMBOL(heed_cpu_pack_tile)
#define heed_cpu_turned_tile HEED_CPU_SYMBOL(heed_cpu_turned_tile)
#define heed_cpu_activate HEED_CPU_SYMBOL(heed_cpu_activate)
#define heed_cpu_product_panel HEED_CPU_SYMBOL(heed_cpu_product_panel)

#endif
