/* The words of int8.h for NEON. */
#ifndef HEED_CPU_SIMD_NEON_INT8_H
#define HEED_CPU_SIMD_NEON_INT8_H

static inline void f32_narrow(f32xN a, uint8_t *p) {
  const uint16x4_t words = vmovn_u32(vcvtq_u32_f32(a));
  const uint32_t bytes =
      vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
  memcpy(p, &bytes, sizeof bytes);
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  return vcvtq_f32_s32(vmlsq_s32(vld1q_s32(sums), vld1q_s32(totals), vdupq_n_s32(zero)));
}

/* The two products of a column lie side by side until they are stored. */
typedef int32x4x2_t i32xN;
typedef int16x8_t i8_operand;
static inline i32xN i32_zero(void) {
  const i32xN zero = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
  return zero;
}
static inline void i32_store(int32_t *p, i32xN a) { vst1q_s32(p, vpaddq_s32(a.val[0], a.val[1])); }
static inline int16x8_t i8_row(const unsigned char *p) {
  return vreinterpretq_s16_s32(vdupq_n_s32(heed_int8_word(p)));
}
static inline int16x8_t i8_weights(const int8_t *p) { return vmovl_s8(vld1_s8(p)); }
static inline i32xN i8_dot(i32xN sum, int16x8_t x, int16x8_t w) {
  sum.val[0] = vmlal_s16(sum.val[0], vget_low_s16(w), vget_low_s16(x));
  sum.val[1] = vmlal_high_s16(sum.val[1], w, x);
  return sum;
}

#endif
