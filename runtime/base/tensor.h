/* Element types and shapes. */
#ifndef HEED_BASE_TENSOR_H
#define HEED_BASE_TENSOR_H

#include "heed/heed.h"

/* rank dims ... ; HEED_SHAPE(2, 3) -> {2, {2, 3}} */
#define HEED_SHAPE(...) \
  ((heed_shape){(uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), {__VA_ARGS__}})

bool heed_shape_equal(const heed_shape *a, const heed_shape *b);
/* Elements, checked; false when it overflows 64 bits. */
bool heed_shape_count_checked(const heed_shape *shape, uint64_t *count);
/* Bytes of a dense tensor, checked; false on overflow of size_t. */
bool heed_shape_bytes(const heed_shape *shape, heed_dtype dtype, size_t *bytes);

#define HEED_SHAPE_TEXT_SIZE 80
/* "[1, 197, 768]" into text; returns text. */
const char *heed_shape_text(const heed_shape *shape, char text[HEED_SHAPE_TEXT_SIZE]);

/* IEEE half and bfloat16 to float, exact (NaN payloads kept quiet). */
float heed_f16_to_f32(uint16_t half);
float heed_bf16_to_f32(uint16_t brain);
/* Round to nearest even. */
uint16_t heed_f32_to_f16(float value);
uint16_t heed_f32_to_bf16(float value);
/* count elements of dtype F32, F16 or BF16 at `from` (any alignment) to float. */
void heed_widen(heed_dtype dtype, const void *from, float *to, size_t count);

#endif
