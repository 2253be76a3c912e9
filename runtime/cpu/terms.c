/* The constants of simd/maths.h where the compiler must not see what they are. */
#include "cpu/simd/maths.h"

const heed_cpu_term_table heed_cpu_terms = HEED_CPU_TERMS;
