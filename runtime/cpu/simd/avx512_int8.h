/* The words of int8.h for AVX-512. */
#ifndef HEED_CPU_SIMD_AVX512_INT8_H
#define HEED_CPU_SIMD_AVX512_INT8_H

#define HEED_INT8_BLOCK 64u
static inline __m512i i8_whole(const float *x, __m512 inverse, __m512i zero) {
  const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x), inverse);
  return _mm512_add_epi32(_mm512_maskz_cvtps_epi32(HEED_AVX512_ALL, scaled), zero);
}
static inline f32xN i8_quantise(const float *x, float inverse, int32_t zero) {
  const __m512 by = _mm512_set1_ps(inverse);
  const __m512i z = _mm512_set1_epi32(zero),
                order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                low = _mm512_packs_epi32(i8_whole(x, by, z), i8_whole(x + 16, by, z)),
                high = _mm512_packs_epi32(i8_whole(x + 32, by, z), i8_whole(x + 48, by, z));
  return _mm512_castsi512_ps(
      _mm512_maskz_permutexvar_epi32(HEED_AVX512_ALL, order, _mm512_packus_epi16(low, high)));
}
/* Only for int8_wide.c, which this level does without. */
static inline int32_t i8_total(f32xN words) {
  (void)words;
  return 0;
}
static inline f32xN i8_first_pairs(f32xN words) {
  return _mm512_castsi512_ps(_mm512_shuffle_epi8(
      _mm512_castps_si512(words),
      _mm512_set4_epi32((int)0x800D800C, (int)0x80098008, (int)0x80058004, (int)0x80018000)));
}
static inline f32xN i8_last_pairs(f32xN words) {
  return _mm512_castsi512_ps(_mm512_shuffle_epi8(
      _mm512_castps_si512(words),
      _mm512_set4_epi32((int)0x800F800E, (int)0x800B800A, (int)0x80078006, (int)0x80038002)));
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  const __m512i less = _mm512_mullo_epi32(_mm512_loadu_si512(totals), _mm512_set1_epi32(zero));
  return _mm512_maskz_cvtepi32_ps(HEED_AVX512_ALL,
                                  _mm512_sub_epi32(_mm512_loadu_si512(sums), less));
}

typedef __m512i i32xN;
typedef __m512i i8_operand;
static inline i32xN i32_zero(void) { return _mm512_setzero_si512(); }
static inline void i32_store(int32_t *p, i32xN a) { _mm512_storeu_si512(p, a); }
static inline __m512i i8_row(const unsigned char *p) {
  return _mm512_set1_epi32(heed_int8_word(p));
}
static inline __m512i i8_weights(const int8_t *p) {
  return _mm512_maskz_cvtepi8_epi16(0xFFFFFFFFu,
                                    _mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline i32xN i8_dot(i32xN sum, __m512i x, __m512i w) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w));
}

#endif
