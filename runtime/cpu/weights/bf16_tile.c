/* The tile of bf16 products, in the shape of gemm.c's, and the packing of its factors. */
#include <string.h>

#include "cpu/gemm.h"
#include "cpu/simd/bf16.h"
#include "cpu/weights/bf16.h"

#define TILE_ROWS HEED_TILE_ROWS
#define TILE_SUM float
#define TILE_VECTOR f32xN
#define TILE_ROW bf16xN
#define TILE_BYTES 4
#define TILE_ZERO() f32_set1(0.0f)
#define TILE_TAKE_ROW bf16_pair
#define TILE_TAKE_WEIGHTS bf16_load
#define TILE_DOT bf16_dot
#define TILE_STORE f32_store
#include "cpu/weights/packed_tile.h"

TILES(DEFINE_TILE)

#define TILE(m) [m] = tile_##m,
static void (*const tiles[HEED_TILE_ROWS + 1])(const unsigned char *, const int8_t *, size_t,
                                               float *) = {TILES(TILE)};

/* Rows of sums that are finished together, as in gemm.c, and bytes of a cache line. */
#define FINISH_ROWS 48u
#define LINE 64u

/* m rows [m, depth], at most a vector's, as pairs `stride` words apart: a pair is a word,
 * transposed through registers as floats are. */
static void pack_rows(const float *x, size_t depth, size_t m, float *to, size_t stride) {
  const size_t pairs = heed_cpu_parts(depth, 2);
  for (size_t pair = 0; pair < pairs; pair += HEED_SIMD_WIDTH, to += HEED_SIMD_WIDTH * stride) {
    f32xN block[HEED_SIMD_WIDTH];
    for (size_t i = 0; i < HEED_SIMD_WIDTH; i++)
      block[i] = i < m ? bf16_round(x + i * depth + 2 * pair, depth - 2 * pair) : f32_set1(0.0f);
    f32_transpose(block);
    for (size_t i = 0; i < HEED_SIMD_WIDTH && pair + i < pairs; i++)
      f32_store_tail(to + i * stride, block[i], (uint32_t)m);
  }
}

static void pack_panel(const float *from, size_t depth, uint32_t rows, void *panel) {
  memset(panel, 0, HEED_TILE_COLUMNS * heed_cpu_bf16_row_bytes(depth));
  for (uint32_t n = 0; n < rows; n += HEED_SIMD_WIDTH)
    pack_rows(from + n * depth, depth, rows - n < HEED_SIMD_WIDTH ? rows - n : HEED_SIMD_WIDTH,
              (float *)panel + n, HEED_TILE_COLUMNS);
}

static void pack_tile(const float *x, size_t depth, size_t m, void *tile) {
  pack_rows(x, depth, m, tile, m);
}

/* Each tile calls for its share of the next panel, since the first tile to use it would wait for
 * all of it. */
static void product_panel(const heed_cpu_product *p, const unsigned char *group, size_t first,
                          size_t count, size_t panel, float *sums) {
  const size_t row_bytes = heed_cpu_bf16_row_bytes(p->depth), pairs = row_bytes / 4,
               bytes = HEED_TILE_COLUMNS * row_bytes,
               share = heed_cpu_parts(bytes, heed_cpu_parts(count, HEED_TILE_ROWS) * LINE) * LINE;
  const int8_t *weights = (const int8_t *)(const void *)p->panels + panel * bytes,
               *next = weights + bytes;
  for (size_t i = 0, done = 0; i < count; i += HEED_TILE_ROWS, next += share) {
    const size_t m = count - i < HEED_TILE_ROWS ? count - i : HEED_TILE_ROWS;
    for (size_t at = 0; at < share; at += LINE) HEED_PREFETCH(next + at);
    tiles[m](group + i * row_bytes, weights, pairs, sums + (i - done) * HEED_TILE_COLUMNS);
    if (i + m < count && i + m - done < FINISH_ROWS) continue;
    heed_cpu_finish(p, sums, first + done, i + m - done, panel);
    done = i + m;
  }
}

extern const heed_cpu_bf16 HEED_CPU_SYMBOL(heed_cpu_bf16);
const heed_cpu_bf16 HEED_CPU_SYMBOL(heed_cpu_bf16) = {.rows = HEED_TILE_ROWS,
                                                      .pack_panel = pack_panel,
                                                      .pack_tile = pack_tile,
                                                      .product_panel = product_panel};
