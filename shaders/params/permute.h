/* Push constants of permute.comp. Axes of y from the back of size and stride on; unused ones in
 * front have size 1. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_permute_params)
u32 count;
u32 x_origin, y_origin;
u32 size[6], stride[6]; /* strides in x */
HEED_PARAMS_END(heed_permute_params)
