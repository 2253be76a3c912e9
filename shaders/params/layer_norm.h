/* Push constants of layer_norm.comp. x, y [rows, width]; gain, bias [width]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_layer_norm_params)
u32 rows, width;
f32 epsilon;
u32 x_origin, gain_origin, bias_origin, y_origin;
HEED_PARAMS_END(heed_layer_norm_params)
