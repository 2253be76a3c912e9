/* Push constants of multiply.comp: params/broadcast.h. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_multiply_params)
#include "params/broadcast.h"
HEED_PARAMS_END(heed_multiply_params)
