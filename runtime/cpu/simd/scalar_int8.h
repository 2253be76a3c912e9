/* The words of int8.h for the scalar level. */
#ifndef HEED_CPU_SIMD_SCALAR_INT8_H
#define HEED_CPU_SIMD_SCALAR_INT8_H

static inline void f32_narrow(f32xN a, uint8_t *p) {
  const float shifted = a + HEED_SIMD_MAGIC;
  uint32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  *p = (uint8_t)bits;
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  const uint32_t sum = (uint32_t)*sums - (uint32_t)*totals * (uint32_t)zero;
  int32_t whole;
  memcpy(&whole, &sum, sizeof whole);
  return (float)whole;
}

typedef int32_t i32xN;
typedef struct int8_pair {
  int32_t first, second;
} int8_pair;
typedef int8_pair i8_operand;
static inline i32xN i32_zero(void) { return 0; }
static inline void i32_store(int32_t *p, i32xN a) { *p = a; }
static inline int8_pair i8_row(const unsigned char *p) {
  int16_t pair[2];
  memcpy(pair, p, sizeof pair);
  const int8_pair x = {pair[0], pair[1]};
  return x;
}
static inline int8_pair i8_weights(const int8_t *p) {
  const int8_pair w = {p[0], p[1]};
  return w;
}
static inline i32xN i8_dot(i32xN sum, int8_pair x, int8_pair w) {
  return sum + x.first * w.first + x.second * w.second;
}

#endif
