/* Push constants of elementwise.comp. Axes are collapsed; they count from the back of size on. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_elementwise_params)
u32 count;                                  /* elements of y */
u32 a_origin, b_origin, c_origin, y_origin; /* in elements; of y of U8 in words */
u32 size[6];                                /* of y along each axis */
u32 a_stride[6], b_stride[6], c_stride[6];  /* 0 where it is repeated */
f32 alpha, beta;
HEED_PARAMS_END(heed_elementwise_params)
