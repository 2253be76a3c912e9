/* The word of fp16:
 *   widen(p)   HEED_SIMD_WIDTH numbers of fp16 as floats */
#ifndef HEED_CPU_SIMD_HALF_H
#define HEED_CPU_SIMD_HALF_H

#include "cpu/simd/f32xN.h"

#include HEED_SIMD_HALF

#endif
