/* Rows quantised on the way into a product of int8: a block of HEED_INT8_BLOCK numbers of each row
 * of a tile at a time. */
#include "cpu/cpu_op.h"
#include "cpu/simd/int8.h"
#include "cpu/weights/int8.h"
#include "cpu/weights/int8_grid.h"
#include "cpu/weights/packed_words.h"

/* Chains side by side: each instruction waits for the one before it in its chain. */
#define CHAINS 4u

typedef struct range {
  f32xN low, high, odd;
} range;

static range widen_range(range r, f32xN a) {
  const range wide = {f32_min(r.low, a), f32_max(r.high, a), f32_fma(a, f32_set1(0.0f), r.odd)};
  return wide;
}

/* Extremes of a row and 0; and whether it has no NaN and no infinity, 0 times which is NaN. */
HEED_FLATTEN static bool find_range(const float *x, size_t depth, float *least, float *most) {
  const f32xN zero = f32_set1(0.0f);
  range all = {zero, zero, zero}, chain[CHAINS] = {all, all, all, all};
  size_t k = 0;
  for (; k + CHAINS * HEED_SIMD_WIDTH <= depth; k += CHAINS * HEED_SIMD_WIDTH)
    for (uint32_t i = 0; i < CHAINS; i++)
      chain[i] = widen_range(chain[i], f32_load(x + k + i * HEED_SIMD_WIDTH));
  for (; k < depth; k += HEED_SIMD_WIDTH)
    all = widen_range(all, depth - k < HEED_SIMD_WIDTH ? f32_load_tail(x + k, (uint32_t)(depth - k))
                                                       : f32_load(x + k));
  for (uint32_t i = 0; i < CHAINS; i++) {
    all.low = f32_min(all.low, chain[i].low);
    all.high = f32_max(all.high, chain[i].high);
    all.odd = f32_add(all.odd, chain[i].odd);
  }
  *least = -f32_reduce_max(f32_sub(zero, all.low));
  *most = f32_reduce_max(all.high);
  return f32_reduce_add(all.odd) == 0.0f;
}

/* A block's numbers of the tile's rows, from a row's length of `stride` floats. */
HEED_FLATTEN static void pack_block(const heed_cpu_int8 *way, const float *x, size_t stride,
                                    const grid *grids, heed_cpu_int8_row *row, packed_words *w) {
  f32xN rows[HEED_SIMD_WIDTH];
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++)
    rows[i] = i < w->m ? i8_quantise(x + i * stride, grids[i].inverse, (int32_t)grids[i].zero)
                       : f32_set1(0.0f);
  for (uint32_t i = 0; HEED_INT8_WIDE && way->group == 2 && i < w->m; i++)
    row[i].total += i8_total(rows[i]);
  f32_transpose(rows);
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++) {
    if (way->group == 4) {
      put_words(w, rows[i]);
    } else {
      put_words(w, i8_first_pairs(rows[i]));
      put_words(w, i8_last_pairs(rows[i]));
    }
  }
}

static void pack_rows(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                      const grid *grids, unsigned char *tile, heed_cpu_int8_row *row) {
  packed_words w = {tile, m, heed_cpu_parts(depth, way->group) * m};
  size_t k = 0;
  for (; k + HEED_INT8_BLOCK <= depth; k += HEED_INT8_BLOCK)
    pack_block(way, x + k, depth, grids, row, &w);
  if (k == depth) return;
  float rest[HEED_INT8_MOST_ROWS * HEED_INT8_BLOCK] = {0};
  for (size_t i = 0; i < m; i++)
    memcpy(rest + i * HEED_INT8_BLOCK, x + i * depth + k, (depth - k) * sizeof *x);
  pack_block(way, rest, HEED_INT8_BLOCK, grids, row, &w);
  /* Of the zeros behind the row only those that fill its last group were packed. */
  const int32_t more = (int32_t)(HEED_INT8_BLOCK - (depth - k) - depth % 2);
  for (size_t i = 0; HEED_INT8_WIDE && i < m; i++) row[i].total -= more * row[i].zero;
}

void heed_cpu_int8_pack_tile(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                             unsigned char *tile, heed_cpu_int8_row *rows) {
  grid grids[HEED_INT8_MOST_ROWS];
  for (size_t i = 0; i < m; i++) {
    float least, most;
    const bool finite = find_range(x + i * depth, depth, &least, &most);
    grids[i] = choose_grid(finite, least, most, &rows[i]);
    rows[i].zero = (int32_t)grids[i].zero;
    rows[i].total = 0;
  }
  pack_rows(way, x, depth, m, grids, tile, rows);
}
