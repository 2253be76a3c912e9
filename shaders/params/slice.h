/* Push constants of slice.comp. Axes from the front on. Along each, elements [from, to) of y are
 * x's, `stride` elements of x apart; both count modulo 2^32. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_slice_params)
u32 count, value;       /* elements of y; the word beyond x */
u32 x_origin, y_origin; /* x_origin: where element 0 of y would be */
u32 size[6], stride[6], from[6], to[6];
HEED_PARAMS_END(heed_slice_params)
