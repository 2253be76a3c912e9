/* The tile of int8 products without a dot product of bytes, on processors that add floats beside
 * multiplications (AMD's, except Zen 3). A panel's weights are widened once for all rows of a
 * group, to w + 128 in 16 bits, so no product is negative; the rows' totals put that right.
 *
 * Products of 16 bits and additions of int32 compete for the same units there, additions of floats
 * have units of their own. The bits of a whole number below 2^24 are a float of that many smallest
 * steps, so such numbers can be added as floats, exactly. Slices of the depth keep sums that small:
 * 256 times 255 times 255 is less than 2^24. */
#include "cpu/simd/int8.h"

#include "cpu/weights/int8.h"

/* Groups of a slice. */
#define SLICE 128u

static inline __m256 add_whole(__m256 sum, __m256i a, __m256i w) {
  return _mm256_add_ps(sum, _mm256_castsi256_ps(_mm256_madd_epi16(a, w)));
}
static inline void add_to(float *sums, __m256 sum) {
  __m256i *to = (__m256i *)(void *)sums;
  _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), _mm256_castps_si256(sum)));
}
static inline __m256i take_weights(const int8_t *p) {
  return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

#define TILE_ROWS HEED_INT8_PAIR_ROWS
#define TILE_SUM float
#define TILE_ROW __m256i
#define TILE_BYTES 4
#define TILE_ZERO _mm256_setzero_ps
#define TILE_TAKE_ROW i8_row
#define TILE_TAKE_WEIGHTS take_weights
#define TILE_DOT add_whole
#define TILE_STORE add_to
#define TILE_VECTOR __m256
#include "cpu/weights/packed_tile.h"

TILES(DEFINE_TILE)

#define TILE(m) [m] = tile_##m,
static void (*const tiles[TILE_ROWS + 1])(const unsigned char *, const int8_t *, size_t,
                                          float *) = {TILES(TILE)};

void heed_cpu_int8_wide_panel(const int8_t *panel, size_t groups, int16_t *wide) {
  const __m256i up = _mm256_set1_epi16(128);
  for (size_t i = 0; i < groups * HEED_TILE_COLUMNS * 2; i += 16) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(panel + i));
    _mm256_storeu_si256((__m256i *)(void *)(wide + i),
                        _mm256_add_epi16(_mm256_cvtepi8_epi16(bytes), up));
  }
}

void heed_cpu_int8_wide_tile(size_t m, const unsigned char *rows, const int16_t *wide,
                             size_t groups, const heed_cpu_int8_row *row, int32_t *sums) {
  for (size_t i = 0; i < m * HEED_TILE_COLUMNS; i += HEED_SIMD_WIDTH)
    i32_store(sums + i, _mm256_set1_epi32(-128 * row[i / HEED_TILE_COLUMNS].total));
  for (size_t at = 0; at < groups; at += SLICE)
    tiles[m](rows + at * m * 4, (const int8_t *)(wide + at * HEED_TILE_COLUMNS * 2),
             groups - at < SLICE ? groups - at : SLICE, (float *)(void *)sums);
}

/* Bits of MXCSR: numbers near 0 taken as 0, results near 0 made 0, no exception for such numbers.
 */
#define FLUSHES 0x8040u
#define MASKED 0x0100u

/* On Zen 3, eight products and eight additions took 7.9 cycles with floats and 5.1 with int32
 * (tests/bench/NOTES.md). */
bool heed_cpu_int8_adds_floats(void) {
  return __builtin_cpu_is("amd") && !__builtin_cpu_is("znver3");
}

uint32_t heed_cpu_int8_keep_small(void) {
  const uint32_t before = _mm_getcsr();
  if ((before & (FLUSHES | MASKED)) != MASKED) _mm_setcsr((before & ~FLUSHES) | MASKED);
  return before;
}
void heed_cpu_int8_leave_small(uint32_t before) {
  if ((before & (FLUSHES | MASKED)) != MASKED) _mm_setcsr(before);
}
