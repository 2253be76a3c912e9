/* Relaxed SIMD where the engine takes both operands of the dot product of bytes for signed. */
#include "cpu/level.h"

const heed_cpu_level_table HEED_CPU_SYMBOL(heed_cpu_level_signed) = {
    HEED_CPU_LEVEL_FIELDS,
    .name = HEED_SIMD_NAME "sdot",
    .label = HEED_SIMD_DOT_LABEL,
    .int8 = &HEED_CPU_SYMBOL(heed_cpu_int8_signed),
};
