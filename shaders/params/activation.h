/* Push constants of activation.comp. Origins are in elements from the start of the binding. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_activation_params)
u32 count; /* elements */
u32 x_origin, y_origin, times_origin;
HEED_PARAMS_END(heed_activation_params)
