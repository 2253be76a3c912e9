/* The words of int8.h for AVX2. */
#ifndef HEED_CPU_SIMD_AVX2_INT8_H
#define HEED_CPU_SIMD_AVX2_INT8_H

#define HEED_INT8_BLOCK 32u
static inline __m256i i8_whole(const float *x, __m256 inverse, __m256i zero) {
  return _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), inverse)), zero);
}
static inline f32xN i8_quantise(const float *x, float inverse, int32_t zero) {
  const __m256 by = _mm256_set1_ps(inverse);
  const __m256i z = _mm256_set1_epi32(zero), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7),
                low = _mm256_packs_epi32(i8_whole(x, by, z), i8_whole(x + 8, by, z)),
                high = _mm256_packs_epi32(i8_whole(x + 16, by, z), i8_whole(x + 24, by, z));
  return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order));
}
/* The sum of a block's numbers. */
static inline int32_t i8_total(f32xN words) {
  const __m256i fours = _mm256_sad_epu8(_mm256_castps_si256(words), _mm256_setzero_si256());
  const __m128i two =
      _mm_add_epi64(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  return _mm_cvtsi128_si32(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}
static inline f32xN i8_first_pairs(f32xN words) {
  const __m256i from =
      _mm256_set_epi32((int)0x800D800C, (int)0x80098008, (int)0x80058004, (int)0x80018000,
                       (int)0x800D800C, (int)0x80098008, (int)0x80058004, (int)0x80018000);
  return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_castps_si256(words), from));
}
static inline f32xN i8_last_pairs(f32xN words) {
  const __m256i from =
      _mm256_set_epi32((int)0x800F800E, (int)0x800B800A, (int)0x80078006, (int)0x80038002,
                       (int)0x800F800E, (int)0x800B800A, (int)0x80078006, (int)0x80038002);
  return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_castps_si256(words), from));
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  const __m256i sum = _mm256_loadu_si256((const __m256i *)(const void *)sums),
                total = _mm256_loadu_si256((const __m256i *)(const void *)totals);
  return _mm256_cvtepi32_ps(
      _mm256_sub_epi32(sum, _mm256_mullo_epi32(total, _mm256_set1_epi32(zero))));
}

typedef __m256i i32xN;
typedef __m256i i8_operand;
static inline i32xN i32_zero(void) { return _mm256_setzero_si256(); }
static inline void i32_store(int32_t *p, i32xN a) { _mm256_storeu_si256((__m256i *)(void *)p, a); }
static inline __m256i i8_row(const unsigned char *p) {
  return _mm256_set1_epi32(heed_int8_word(p));
}
static inline __m256i i8_weights(const int8_t *p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline i32xN i8_dot(i32xN sum, __m256i x, __m256i w) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
}

#endif
