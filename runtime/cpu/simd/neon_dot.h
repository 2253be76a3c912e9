/* The words of dot products of bytes (int8.h) for NEON with dot products, which are of signed
 * bytes. */
#ifndef HEED_CPU_SIMD_NEON_DOT_H
#define HEED_CPU_SIMD_NEON_DOT_H

#include "cpu/simd/int8.h"

#define HEED_INT8_DOT_FLIP 0x80u

typedef int32x4_t dot_sums;
typedef int8x16_t dot_operand;
static inline dot_sums dot_zero(void) { return vdupq_n_s32(0); }
static inline void dot_store(int32_t *p, dot_sums a) { vst1q_s32(p, a); }
static inline int8x16_t dot_row(const unsigned char *p) {
  return vreinterpretq_s8_s32(vdupq_n_s32(heed_int8_word(p)));
}
static inline int8x16_t dot_weights(const int8_t *p) { return vld1q_s8(p); }
static inline dot_sums dot_add(dot_sums sum, int8x16_t x, int8x16_t w) {
  return vdotq_s32(sum, w, x);
}

#endif
