/* Push constants of lstm.comp: params/recurrent.h. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_lstm_params)
#include "params/recurrent.h"
HEED_PARAMS_END(heed_lstm_params)
