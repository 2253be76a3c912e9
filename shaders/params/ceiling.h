/* Push constants of ceiling_multiply.comp and ceiling_copy.comp. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_ceiling_params)
u32 steps;         /* of the loop; vec4 an invocation */
f32 factor, shift; /* not known to the compiler */
HEED_PARAMS_END(heed_ceiling_params)
