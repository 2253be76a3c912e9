/* The words of int8 products: what one instruction set multiplies, and the floats around it.
 *
 * A lane of i32xN sums one column. Along the depth, HEED_INT8_GROUP neighbours are multiplied at
 * once: four bytes where the machine has a dot product of bytes, else two numbers of 16 bits, which
 * hold any product of u8 and s8 and two of them without saturation.
 *   i32_zero store(p, a)     sums of HEED_SIMD_WIDTH columns
 *   i8_weights(p)            HEED_SIMD_WIDTH columns by GROUP weights
 *   i8_row(p)                GROUP numbers of a row, in every lane
 *   i8_dot(sum, x, w)        sum + x times w over the group; exact
 * Packed numbers of a row are q XOR HEED_INT8_FLIP: 0x80 where the machine multiplies signed bytes,
 * which then are q - 128. Groups of two are int16_t. */
#ifndef HEED_CPU_SIMD_INT8_H
#define HEED_CPU_SIMD_INT8_H

#include <string.h>

#include "cpu/simd/f32xN.h"

#if defined(HEED_INT8_DOT)
#define HEED_INT8_GROUP 4
#else
#define HEED_INT8_GROUP 2
#endif
#if defined(HEED_INT8_DOT) && defined(HEED_SIMD_NEON)
#define HEED_INT8_FLIP 0x80u
#else
#define HEED_INT8_FLIP 0u
#endif

/* The four bytes of a group. */
static inline int32_t heed_int8_word(const unsigned char *p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

/* And for the rows, in the words of f32xN.h:
 *   f32_narrow(a, p)                 whole numbers 0 .. 255 as HEED_SIMD_WIDTH bytes, unless there
 *                                    is HEED_INT8_BLOCK
 *   f32_from_sums(sums, totals, z)   sums - z totals, which int32 holds, as floats
 * Where HEED_INT8_BLOCK is defined, rows are packed by vectors of HEED_SIMD_WIDTH words of four
 * bytes, that many numbers at a time:
 *   i8_quantise(x, inverse, zero)    clamp(round(x inverse) + zero, 0, 255) of a block's numbers
 *   i8_first_pairs, i8_last_pairs(a) two bytes of each word as 16 bits each */
/* Rows of a tile; the most of any way of this level. Of plain SIMD128 five are fastest, of relaxed
 * SIMD four where 16 bits are multiplied (NOTES.md of tests/bench). */
#if defined(HEED_SIMD_RELAXED)
#define HEED_INT8_MOST_ROWS 6
#elif defined(HEED_SIMD_WASM128)
#define HEED_INT8_MOST_ROWS 5
#else
#define HEED_INT8_MOST_ROWS HEED_TILE_ROWS
#endif
#if defined(HEED_SIMD_RELAXED) && !defined(HEED_INT8_DOT)
#define HEED_INT8_ROWS 4
#else
#define HEED_INT8_ROWS HEED_INT8_MOST_ROWS
#endif

/* Whether there are tiles of widened weights (int8_wide.c). */
#if defined(HEED_SIMD_AVX2)
#define HEED_INT8_WIDE 1
#else
#define HEED_INT8_WIDE 0
#endif

/* Whether tiles are of all rows, zeros where there is none: for the size of WebAssembly's modules.
 */
#if defined(__wasm__)
#define HEED_INT8_WHOLE 1
#else
#define HEED_INT8_WHOLE 0
#endif

#if defined(HEED_SIMD_AVX512)
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
#elif defined(HEED_SIMD_AVX2)
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
#elif defined(HEED_SIMD_SSE2)
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
#elif defined(HEED_SIMD_NEON)
static inline void f32_narrow(f32xN a, uint8_t *p) {
  const uint16x4_t words = vmovn_u32(vcvtq_u32_f32(a));
  const uint32_t bytes =
      vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
  memcpy(p, &bytes, sizeof bytes);
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  return vcvtq_f32_s32(vmlsq_s32(vld1q_s32(sums), vld1q_s32(totals), vdupq_n_s32(zero)));
}
#elif defined(HEED_SIMD_WASM128) || defined(HEED_SIMD_RELAXED)
static inline void f32_narrow(f32xN a, uint8_t *p) {
  const v128_t whole = wasm_i32x4_trunc_sat_f32x4(a), words = wasm_i16x8_narrow_i32x4(whole, whole);
  wasm_v128_store32_lane(p, wasm_u8x16_narrow_i16x8(words, words), 0);
}
static inline f32xN f32_from_sums(const int32_t *sums, const int32_t *totals, int32_t zero) {
  const v128_t less = wasm_i32x4_mul(wasm_v128_load(totals), wasm_i32x4_splat(zero));
  return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(wasm_v128_load(sums), less));
}
#else
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
#endif

#if defined(HEED_SIMD_AVX512)
typedef __m512i i32xN;
static inline i32xN i32_zero(void) { return _mm512_setzero_si512(); }
static inline void i32_store(int32_t *p, i32xN a) { _mm512_storeu_si512(p, a); }
static inline __m512i i8_row(const unsigned char *p) {
  return _mm512_set1_epi32(heed_int8_word(p));
}
#if defined(HEED_INT8_DOT)
static inline __m512i i8_weights(const int8_t *p) { return _mm512_loadu_si512(p); }
static inline i32xN i8_dot(i32xN sum, __m512i x, __m512i w) {
  return _mm512_dpbusd_epi32(sum, x, w);
}
#else
static inline __m512i i8_weights(const int8_t *p) {
  return _mm512_maskz_cvtepi8_epi16(0xFFFFFFFFu,
                                    _mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline i32xN i8_dot(i32xN sum, __m512i x, __m512i w) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w));
}
#endif

#elif defined(HEED_SIMD_AVX2)
typedef __m256i i32xN;
static inline i32xN i32_zero(void) { return _mm256_setzero_si256(); }
static inline void i32_store(int32_t *p, i32xN a) { _mm256_storeu_si256((__m256i *)(void *)p, a); }
static inline __m256i i8_row(const unsigned char *p) {
  return _mm256_set1_epi32(heed_int8_word(p));
}
#if defined(HEED_INT8_DOT)
static inline __m256i i8_weights(const int8_t *p) {
  return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static inline i32xN i8_dot(i32xN sum, __m256i x, __m256i w) {
  return _mm256_dpbusd_avx_epi32(sum, x, w);
}
#else
static inline __m256i i8_weights(const int8_t *p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline i32xN i8_dot(i32xN sum, __m256i x, __m256i w) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
}
#endif

#elif defined(HEED_SIMD_SSE2)
typedef __m128i i32xN;
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

#elif defined(HEED_SIMD_NEON) && defined(HEED_INT8_DOT)
typedef int32x4_t i32xN;
static inline i32xN i32_zero(void) { return vdupq_n_s32(0); }
static inline void i32_store(int32_t *p, i32xN a) { vst1q_s32(p, a); }
static inline int8x16_t i8_row(const unsigned char *p) {
  return vreinterpretq_s8_s32(vdupq_n_s32(heed_int8_word(p)));
}
static inline int8x16_t i8_weights(const int8_t *p) { return vld1q_s8(p); }
static inline i32xN i8_dot(i32xN sum, int8x16_t x, int8x16_t w) { return vdotq_s32(sum, w, x); }

#elif defined(HEED_SIMD_NEON)
/* The two products of a column lie side by side until they are stored. */
typedef int32x4x2_t i32xN;
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

#elif defined(HEED_SIMD_WASM128) || defined(HEED_SIMD_RELAXED)
typedef v128_t i32xN;
static inline i32xN i32_zero(void) { return wasm_i32x4_const(0, 0, 0, 0); }
static inline void i32_store(int32_t *p, i32xN a) { wasm_v128_store(p, a); }
static inline v128_t i8_row(const unsigned char *p) { return wasm_v128_load32_splat(p); }
#if defined(HEED_INT8_DOT)
static inline v128_t i8_weights(const int8_t *p) { return wasm_v128_load(p); }
static inline i32xN i8_dot(i32xN sum, v128_t x, v128_t w) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, x, sum);
}
#else
static inline v128_t i8_weights(const int8_t *p) { return wasm_i16x8_load8x8(p); }
static inline i32xN i8_dot(i32xN sum, v128_t x, v128_t w) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(x, w));
}
#endif

#else
typedef int32_t i32xN;
typedef struct int8_pair {
  int32_t first, second;
} int8_pair;
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

#endif
