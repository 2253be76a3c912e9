/* Push constants of attention_norm.comp. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_norm_params)
u32 keys, stride; /* Tk; of a row of scores */
u32 rows;         /* of this piece, which lie side by side in weights and logits */
f32 threshold;
u32 weights_origin, logits_origin;
HEED_PARAMS_END(heed_attention_norm_params)
