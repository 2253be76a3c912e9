/* Push constants of matmul.comp. y [batch, rows, columns] = a [.., rows, depth] b [.., depth,
 * columns]; leading axes from the back of size on, steps in elements, 0 where repeated. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_matmul_params)
u32 rows, columns, depth, batch;
u32 size[4], a_step[4], b_step[4];
u32 a_origin, b_origin, y_origin;
HEED_PARAMS_END(heed_matmul_params)
