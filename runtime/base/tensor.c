/* Element types and shapes. */
#include "base/tensor.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static const struct {
  const char *name;
  size_t size;
} dtypes[] = {
    [HEED_F32] = {"F32", 4}, [HEED_F16] = {"F16", 2}, [HEED_BF16] = {"BF16", 2},
    [HEED_U8] = {"U8", 1},   [HEED_I32] = {"I32", 4}, [HEED_I8] = {"I8", 1},
};

const char *heed_dtype_name(heed_dtype dtype) {
  return (size_t)dtype < sizeof dtypes / sizeof *dtypes ? dtypes[dtype].name : "?";
}
size_t heed_dtype_size(heed_dtype dtype) {
  return (size_t)dtype < sizeof dtypes / sizeof *dtypes ? dtypes[dtype].size : 0;
}

bool heed_shape_count_checked(const heed_shape *shape, uint64_t *count) {
  *count = 1;
  for (uint32_t i = 0; i < shape->rank; i++)
    if (!heed_u64_mul(*count, shape->dim[i], count)) return false;
  return true;
}

uint64_t heed_shape_count(const heed_shape *shape) {
  uint64_t count;
  return heed_shape_count_checked(shape, &count) ? count : 0;
}

bool heed_shape_bytes(const heed_shape *shape, heed_dtype dtype, size_t *bytes) {
  uint64_t count;
  *bytes = 0;
  if (!heed_shape_count_checked(shape, &count) || count > SIZE_MAX) return false;
  return heed_size_mul((size_t)count, heed_dtype_size(dtype), bytes) && (uint64_t)*bytes >> 63 == 0;
}

bool heed_shape_equal(const heed_shape *a, const heed_shape *b) {
  return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0;
}

const char *heed_shape_text(const heed_shape *shape, char text[HEED_SHAPE_TEXT_SIZE]) {
  size_t at = 0;
  text[at++] = '[';
  for (uint32_t i = 0; i < shape->rank && i < HEED_MAX_RANK; i++)
    at += (size_t)snprintf(text + at, HEED_SHAPE_TEXT_SIZE - at, i ? ", %u" : "%u", shape->dim[i]);
  text[at++] = ']';
  text[at] = '\0';
  return text;
}

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

float heed_f16_to_f32(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1Fu, mantissa = half & 0x3FFu;
  if (exponent == 0x1F)
    return from_bits(sign | 0x7F800000u | mantissa << 13 | (mantissa ? 0x400000u : 0));
  if (exponent == 0) { /* zero or subnormal: mantissa * 2^-24 */
    const float magnitude = (float)mantissa * from_bits(0x33800000u);
    return sign ? -magnitude : magnitude;
  }
  return from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

float heed_bf16_to_f32(uint16_t brain) { return from_bits((uint32_t)brain << 16); }

uint16_t heed_f32_to_f16(float value) {
  const uint32_t bits = to_bits(value), sign = (bits >> 16) & 0x8000u,
                 magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u); /* rounds past 65504 */
  /* subnormal half: round value * 2^24 to an integer */
  if (magnitude < 0x38800000u) {
    const uint32_t shift = 126 - (magnitude >> 23);
    if (shift > 24) return (uint16_t)sign;
    const uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    const uint32_t rounded = mantissa >> shift, rest = mantissa & ((1u << shift) - 1),
                   half = 1u << (shift - 1);
    return (uint16_t)(sign | (rounded + (rest > half || (rest == half && (rounded & 1u)))));
  }
  const uint32_t rebased = magnitude - 0x38000000u;
  return (uint16_t)(sign | ((rebased + 0xFFFu + ((rebased >> 13) & 1u)) >> 13));
}

uint16_t heed_f32_to_bf16(float value) {
  const uint32_t bits = to_bits(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

void heed_widen(heed_dtype dtype, const void *from, float *to, size_t count) {
  if (dtype == HEED_F32) {
    memcpy(to, from, count * sizeof *to);
    return;
  }
  const unsigned char *bytes = from;
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, bytes + 2 * i, sizeof half);
    to[i] = dtype == HEED_F16 ? heed_f16_to_f32(half) : heed_bf16_to_f32(half);
  }
}
