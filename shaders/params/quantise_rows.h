/* Push constants of quantise_rows.comp. x [rows, width]; what is written has `padded` numbers a
 * row, a multiple of 16. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_quantise_rows_params)
u32 rows, width, padded;
u32 x_origin;
HEED_PARAMS_END(heed_quantise_rows_params)
