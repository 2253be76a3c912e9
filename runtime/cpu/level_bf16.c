/* The level with products of bf16 and dot products of bytes. */
#include "cpu/level.h"

const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level_bf16) = {
    HEED_CPU_LEVEL_FIELDS,
    .name = HEED_SIMD_NAME "bf16",
    .label = HEED_SIMD_DOT_LABEL " and BF16",
    .by_name = true,
    .int8 = &HEED_CPU_SYMBOL(heed_cpu_int8_bytes),
    .bf16 = &HEED_CPU_SYMBOL(heed_cpu_bf16),
};
