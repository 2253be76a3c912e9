/* Push constants of rotary.comp. x, y [.., heads, tokens, depth]; cos, sin [tables, tokens - first,
 * pairs], where tables is 1 or the number of heads. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_rotary_params)
u32 count; /* elements of x */
u32 tables, tokens, depth;
u32 first, pairs;
u32 x_origin, cos_origin, sin_origin, y_origin;
HEED_PARAMS_END(heed_rotary_params)
