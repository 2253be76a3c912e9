/* Push constants of attention_mask.comp. Origins of ids in elements, of the mask in words. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_mask_params)
u32 count;         /* bytes of the mask */
u32 queries, keys; /* a batch; queries 1 without query ids */
i32 padding;
u32 query_origin, key_origin, mask_origin;
HEED_PARAMS_END(heed_attention_mask_params)
