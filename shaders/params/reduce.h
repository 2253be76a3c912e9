/* Push constants of reduce.comp. Axes of x that are kept and those that are reduced, merged, from
 * the back of the lists on; unused ones in front have size 1. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_reduce_params)
u32 count, elements; /* results; elements of each */
u32 x_origin, y_origin;
u32 kept_size[3], kept_stride[3];
u32 gone_size[3], gone_stride[3];
HEED_PARAMS_END(heed_reduce_params)
