/* The level with dot products of bytes. */
#include "cpu/level.h"

const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level_bytes) = {
    HEED_CPU_LEVEL_FIELDS,
    .name = HEED_SIMD_DOT_NAME,
    .label = HEED_SIMD_DOT_LABEL,
    .int8 = &HEED_CPU_SYMBOL(heed_cpu_int8_bytes),
};
