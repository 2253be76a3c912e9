/* The words of int8 products: what an instruction set multiplies, and the floats around it.
 *
 * A lane of i32xN sums one column. Along the depth, neighbours are multiplied at once: two numbers
 * of 16 bits, which hold any product of u8 and s8 and two of them without saturation.
 *   i32_zero store(p, a)     sums of HEED_SIMD_WIDTH columns
 *   i8_weights(p)            HEED_SIMD_WIDTH columns by two weights
 *   i8_row(p)                two numbers of a row, int16_t, in every lane
 *   i8_dot(sum, x, w)        sum + x times w over the two; exact
 *
 * Where the machine has a dot product of bytes, four are multiplied at once, by the words dot_zero,
 * dot_store, dot_weights, dot_row and dot_add, which are in the file that HEED_SIMD_DOT names.
 * Packed numbers of a row are then q XOR HEED_INT8_DOT_FLIP: 0x80 where the machine multiplies
 * signed bytes, which then are q - 128.
 *
 * For the rows, in the words of f32xN.h:
 *   f32_from_sums(sums, totals, z)   sums - z totals, which int32 holds, as floats
 * and where rows are packed one by one (int8_rows.c):
 *   f32_narrow(a, p)                 whole numbers 0 .. 255 as HEED_SIMD_WIDTH bytes
 * or by vectors of HEED_SIMD_WIDTH words of four bytes, HEED_INT8_BLOCK numbers (int8_blocks.c):
 *   i8_quantise(x, inverse, zero)    clamp(round(x inverse) + zero, 0, 255) of a block's numbers
 *   i8_first_pairs, i8_last_pairs(a) two bytes of each word as 16 bits each
 *   i8_total(a)                      the sum of a block's numbers, where HEED_INT8_WIDE is not 0 */
#ifndef HEED_CPU_SIMD_INT8_H
#define HEED_CPU_SIMD_INT8_H

#include <string.h>

#include "cpu/simd/f32xN.h"

/* The four bytes of a group. */
static inline int32_t heed_int8_word(const unsigned char *p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

#include HEED_SIMD_INT8

#endif
