/* Push constants of select_rows.comp. x [B, T C] -> y [B, count C]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_select_rows_params)
u32 count;                 /* elements of y */
u32 x_row, y_row, x_first; /* T C, count C, first C */
u32 x_origin, y_origin;
HEED_PARAMS_END(heed_select_rows_params)
