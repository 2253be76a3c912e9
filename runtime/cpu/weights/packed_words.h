/* Rows of numbers of a few bytes, packed as a tile: words of four bytes, [k][m]. */
#ifndef HEED_CPU_WEIGHTS_PACKED_WORDS_H
#define HEED_CPU_WEIGHTS_PACKED_WORDS_H

#include "cpu/simd/f32xN.h"

/* Where a tile's words go, in order: a vector of them has HEED_SIMD_WIDTH, m of which count. What
 * is written beyond them is written again; the tile's end is not crossed. */
typedef struct packed_words {
  unsigned char *to;
  size_t m, left;
} packed_words;

static inline void put_words(packed_words *words, f32xN a) {
  if (words->left == 0) return;
  if (words->left >= HEED_SIMD_WIDTH)
    f32_store((float *)(void *)words->to, a);
  else
    f32_store_tail((float *)(void *)words->to, a, (uint32_t)words->m);
  words->to += 4 * words->m;
  words->left -= words->m;
}

#endif
