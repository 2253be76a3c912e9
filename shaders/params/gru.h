/* Push constants of gru.comp: params/recurrent.h. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_gru_params)
#include "params/recurrent.h"
HEED_PARAMS_END(heed_gru_params)
