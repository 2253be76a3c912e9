/* Push constants of add.comp. Axes are collapsed; axis 0 is the outermost. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_add_params)
  u32 count; /* elements of y */
  u32 a_origin, b_origin, y_origin;
  u32 size[6];   /* of y along each axis */
  u32 stride[6]; /* of b; 0 where it is repeated */
HEED_PARAMS_END(heed_add_params)
