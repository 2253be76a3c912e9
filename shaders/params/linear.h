/* Push constants of linear.comp. x [rows, depth], weight in panels, y [rows, columns] or head-major
 * [parts, B, H, T, D]. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_linear_params)
u32 rows, columns, depth;            /* M N K */
u32 batch, heads, tokens, head_size; /* head-major: B H T D */
u32 x_origin, bias_origin, residual_origin, y_origin;
u32 first_panel; /* of the weight: the first that is bound */
u32 slice;       /* values of k that a workgroup, or a group of it, sums: a multiple of 4 */
HEED_PARAMS_END(heed_linear_params)
