/* Push constants of softmax_gradient.comp. x, g, y [rows, width]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_softmax_gradient_params)
u32 rows, width;
f32 factor;
u32 x_origin, g_origin, y_origin;
HEED_PARAMS_END(heed_softmax_gradient_params)
