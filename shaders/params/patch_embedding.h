/* Push constants of patch_embedding.comp. image [B, Cin, height, width] -> y [B patches, columns];
 * depth = Cin P P. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_patch_embedding_params)
u32 rows, columns, depth;          /* M = B * patches, N, K */
u32 patches, patches_across, side; /* of one image; P */
u32 channels, height, width;
u32 x_origin, bias_origin, y_origin;
u32 first_panel; /* of the weight: the first that is bound */
HEED_PARAMS_END(heed_patch_embedding_params)
