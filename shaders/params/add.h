/* Push constants of add.comp: params/broadcast.h. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_add_params)
#include "params/broadcast.h"
HEED_PARAMS_END(heed_add_params)
