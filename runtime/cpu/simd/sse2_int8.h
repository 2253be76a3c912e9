/* The words of int8.h for SSE2. */
#ifndef HEED_CPU_SIMD_SSE2_INT8_H
#define HEED_CPU_SIMD_SSE2_INT8_H

static inline void f32_narrow(f32xN a, uint8_t *p) {
  const __m128i whole = _mm_cvtps_epi32(a), words = _mm_packs_epi32(whole, whole);
  const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  memcpy(p, &bytes, sizeof bytes);
}
/* No product of int32: the low halves of unsigned ones are the same bits. */
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  const __m128i sum = _mm_loadu_si128((const __m128i *)(const void *)sums),
                total = _mm_loadu_si128((const __m128i *)(const void *)totals),
                z = _mm_set1_epi32(zero);
  const __m128i even = _mm_mul_epu32(total, z), odd = _mm_mul_epu32(_mm_srli_epi64(total, 32), z);
  const __m128i less =
      _mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x08), _mm_shuffle_epi32(odd, 0x08));
  return _mm_cvtepi32_ps(_mm_sub_epi32(sum, less));
}

typedef __m128i i32xN;
typedef __m128i i8_operand;
static inline i32xN i32_zero(void) { return _mm_setzero_si128(); }
static inline void i32_store(int32_t *p, i32xN a) { _mm_storeu_si128((__m128i *)(void *)p, a); }
static inline __m128i i8_row(const unsigned char *p) { return _mm_set1_epi32(heed_int8_word(p)); }
static inline __m128i i8_weights(const int8_t *p) {
  const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)p);
  return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
static inline i32xN i8_dot(i32xN sum, __m128i x, __m128i w) {
  return _mm_add_epi32(sum, _mm_madd_epi16(x, w));
}

#endif
