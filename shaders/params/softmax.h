/* Push constants of softmax.comp. x, y [rows, width]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_softmax_params)
u32 rows, width;
u32 x_origin, y_origin;
HEED_PARAMS_END(heed_softmax_params)
