/* Push constants of position_mask.comp. Origins in elements: bytes of the mask that is read, words
 * of the one that is made. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_position_mask_params)
u32 count;                /* bytes of the mask that is made */
u32 heads, queries, keys; /* H Tq Tk */
u32 mask_stride;          /* batch, of the mask that is read */
i32 least, most;          /* keys i + offset + least .. i + offset + most */
u32 offsets_origin, mask_origin, output_origin;
HEED_PARAMS_END(heed_position_mask_params)
