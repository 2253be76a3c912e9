/* Element types and shapes. */
#ifndef HEED_BASE_TENSOR_H
#define HEED_BASE_TENSOR_H

#include "heed/base.h"

/* rank dims ... ; HEED_SHAPE(2, 3) -> {2, {2, 3}} */
#define HEED_SHAPE(...) \
  ((heed_shape){(uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), {__VA_ARGS__}})

/* Elements, checked; false when it overflows 64 bits. */
bool heed_shape_count_checked(const heed_shape *shape, uint64_t *count);

/* IEEE half and bfloat16 to float, exact (NaN payloads kept quiet). */
float heed_f16_to_f32(uint16_t half);
float heed_bf16_to_f32(uint16_t brain);
/* Round to nearest even. */
uint16_t heed_f32_to_f16(float value);
uint16_t heed_f32_to_bf16(float value);
/* count elements of dtype F32, F16 or BF16 at `from` (any alignment) to float. */
void heed_widen(heed_dtype dtype, const void *from, float *to, size_t count);

#endif
