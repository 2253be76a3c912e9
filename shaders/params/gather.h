/* Push constants of gather.comp. x [outer, entries, run], indices [indices]; element by element the
 * axes of y and the strides of x count from the back of the lists on. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_gather_params)
u32 count;                 /* elements of y */
u32 entries, indices, run; /* run: of elements the stride of the axis */
u32 x_origin, indices_origin, y_origin;
u32 size[6], stride[6]; /* the axis has stride 0 */
HEED_PARAMS_END(heed_gather_params)
