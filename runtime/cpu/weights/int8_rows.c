/* Rows quantised on the way into a product of int8: one row after another. */
#include "cpu/cpu_op.h"
#include "cpu/simd/int8.h"
#include "cpu/weights/int8.h"
#include "cpu/weights/int8_grid.h"

/* Extremes of a row and 0; and whether it has no NaN and no infinity, 0 times which is NaN. */
HEED_FLATTEN static bool find_range(const float *x, size_t depth, float *least, float *most) {
  const f32xN zero = f32_set1(0.0f);
  f32xN low = zero, high = zero, odd = zero;
  for (size_t k = 0; k < depth; k += HEED_SIMD_WIDTH) {
    const f32xN a =
        depth - k < HEED_SIMD_WIDTH ? f32_load_tail(x + k, (uint32_t)(depth - k)) : f32_load(x + k);
    low = f32_min(low, a);
    high = f32_max(high, a);
    odd = f32_fma(a, zero, odd);
  }
  *least = -f32_reduce_max(f32_sub(zero, low));
  *most = f32_reduce_max(high);
  return f32_reduce_add(odd) == 0.0f;
}

/* Numbers of a row that are quantised at a time: whole vectors and whole groups. */
#define CHUNK 64u

/* To the nearest whole number, ties to even; |x| < 2^22. */
static f32xN round_whole(f32xN x) {
  const f32xN magic = f32_set1(HEED_SIMD_MAGIC);
  return f32_sub(f32_add(x, magic), magic);
}

/* x[count] on the grid, as bytes. */
HEED_FLATTEN static void quantise(const float *x, size_t count, const grid *g,
                                  uint8_t bytes[CHUNK]) {
  const f32xN inverse = f32_set1(g->inverse), zero = f32_set1(g->zero), least = f32_set1(0.0f),
              most = f32_set1(255.0f);
  for (size_t k = 0; k < count; k += HEED_SIMD_WIDTH) {
    const f32xN a =
        count - k < HEED_SIMD_WIDTH ? f32_load_tail(x + k, (uint32_t)(count - k)) : f32_load(x + k);
    const f32xN q = f32_add(round_whole(f32_mul(a, inverse)), zero);
    f32_narrow(f32_min(f32_max(q, least), most), bytes + k);
  }
}

/* Bytes as groups of four, `step` bytes apart. */
static void pack_fours(const uint8_t *bytes, size_t groups, uint32_t flip, unsigned char *to,
                       size_t step) {
  for (size_t i = 0; i < groups; i++, to += step) {
    uint32_t word;
    memcpy(&word, bytes + 4 * i, sizeof word);
    word ^= flip * 0x01010101u;
    memcpy(to, &word, sizeof word);
  }
}

/* Bytes as pairs of int16_t. */
static void pack_pairs(const uint8_t *bytes, size_t groups, unsigned char *to, size_t step) {
  int16_t wide[CHUNK];
  for (size_t i = 0; i < CHUNK; i++) wide[i] = bytes[i];
  for (size_t i = 0; i < groups; i++, to += step) memcpy(to, wide + 2 * i, 2 * sizeof *wide);
}

static void pack_row(const heed_cpu_int8 *way, const float *x, size_t depth, const grid *g,
                     unsigned char *to, size_t step) {
  uint8_t bytes[CHUNK] = {0};
  for (size_t k = 0; k < depth; k += CHUNK) {
    const size_t count = depth - k < CHUNK ? depth - k : CHUNK,
                 groups = heed_cpu_parts(count, way->group);
    quantise(x + k, count, g, bytes);
    if (way->group == 4)
      pack_fours(bytes, groups, way->flip, to, step);
    else
      pack_pairs(bytes, groups, to, step);
    to += CHUNK / way->group * step;
  }
}

void heed_cpu_int8_pack_tile(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                             unsigned char *tile, heed_cpu_int8_row *rows) {
  for (size_t i = 0; i < m; i++) {
    float least, most;
    const bool finite = find_range(x + i * depth, depth, &least, &most);
    const grid g = choose_grid(finite, least, most, &rows[i]);
    rows[i].zero = (int32_t)g.zero - (int32_t)way->flip;
    pack_row(way, x + i * depth, depth, &g, tile + 4 * i, 4 * m);
  }
}
