/* Push constants of concat.comp. One dispatch an input: x [.., x_row] is copied into y [outer,
 * y_row] from column y_first on. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_concat_params)
u32 count;   /* elements written: outer * x_row */
u32 x_outer; /* rows of x; row o of y takes row o % x_outer */
u32 x_row, y_row, y_first;
u32 x_origin, y_origin;
HEED_PARAMS_END(heed_concat_params)
