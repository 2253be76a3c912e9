/* The SIMD vocabulary: every kernel is written once in these words and compiled once per level,
 * with -DHEED_SIMD_<LEVEL>.
 *
 * f32xN is a vector of HEED_SIMD_WIDTH floats. Words (a, b, c vectors; p pointer to float, any
 * alignment; n in 1 .. width):
 *   load store, load_tail(p, n) store_tail(p, a, n)   the tail forms touch n floats only; missing
 *   ones are 0
 *   set1 add sub mul div sqrt abs max min             max and min give either operand when one is
 *   NaN
 *   fma(a, b, c)                                      a b + c; one rounding where the level has it,
 *   two otherwise copysign(magnitude, sign)                         the sign bit of `sign` on
 *   `magnitude`
 *   select_less(a, b, yes, no)                        a < b ? yes : no, lane by lane; NaN gives no
 *   pow2(t)                                           2^n for t = HEED_SIMD_MAGIC + n, n whole,
 *   -126 <= n <= 127 reduce_add reduce_max                             over the lanes, halves
 *   first: a fixed order
 *   transpose(rows)                                   width x width in place
 * A level also says the shape of its matrix tile: HEED_TILE_ROWS rows by HEED_TILE_VECTORS vectors
 * of columns (2, or 6 with at most 2 rows), which fits its registers; and HEED_TILE_NARROW, whether
 * tiles of one vector of columns, for a last half panel, are worth their code. Further:
 *   HEED_SIMD_PREFETCHES   whether it can call for memory that will be read soon
 *   HEED_SIMD_INT8         the file with its words of int8.h; HEED_SIMD_HALF: of half.h
 *   HEED_SIMD_DOT          the file with dot products of bytes, where there are any; and the name
 *                          and label of the level that multiplies with them: HEED_SIMD_DOT_NAME,
 *                          HEED_SIMD_DOT_LABEL
 *   HEED_INT8_PAIR_ROWS    rows of a tile of int8 that multiplies pairs; HEED_INT8_MOST_ROWS: of
 *                          dot products, and the most of both. Of plain SIMD128 five are fastest,
 *                          of relaxed SIMD four where pairs are multiplied (NOTES.md of
 * tests/bench) HEED_INT8_WIDE         whether there are tiles of widened weights (int8_wide.c)
 * HEED_CPU_SYMBOL(name) gives a symbol its level's suffix. The only contraction to FMA is the word
 * fma. */
#ifndef HEED_CPU_SIMD_F32XN_H
#define HEED_CPU_SIMD_F32XN_H

#include <stddef.h>
#include <stdint.h>

/* 1.5 * 2^23: adding it to |x| < 2^22 rounds x to a whole number and leaves that number in the low
 * bits. */
#define HEED_SIMD_MAGIC 12582912.0f

#if defined(HEED_SIMD_AVX512)
#include "cpu/simd/avx512.h"
#elif defined(HEED_SIMD_AVX2)
#include "cpu/simd/avx2.h"
#elif defined(HEED_SIMD_SSE2)
#include "cpu/simd/sse2.h"
#elif defined(HEED_SIMD_NEON)
#include "cpu/simd/neon.h"
#elif defined(HEED_SIMD_WASM128)
#include "cpu/simd/wasm128.h"
#elif defined(HEED_SIMD_RELAXED)
#include "cpu/simd/relaxed.h"
#elif defined(HEED_SIMD_SCALAR)
#include "cpu/simd/scalar.h"
#else
#error "a kernel is compiled for one level: define HEED_SIMD_<LEVEL>"
#endif

/* On a function: what it calls itself is inlined, in files built for size too. */
#if defined(__GNUC__)
#define HEED_FLATTEN __attribute__((flatten))
#define HEED_NOINLINE __attribute__((noinline))
#else
#define HEED_FLATTEN
#define HEED_NOINLINE
#endif

/* Columns of a matrix tile, and so of a packed panel. */
#define HEED_TILE_COLUMNS (HEED_TILE_VECTORS * HEED_SIMD_WIDTH)

#endif
