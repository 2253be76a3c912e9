/* Push constants of layer_norm_gradient.comp. x, g, y [rows, width]; gain [width]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_layer_norm_gradient_params)
u32 rows, width;
f32 epsilon;
u32 x_origin, gain_origin, g_origin, y_origin;
HEED_PARAMS_END(heed_layer_norm_gradient_params)
