/* Push constants of attention_join.comp. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_join_params)
u32 batch, heads, queries, depth; /* B H Tq Dv */
u32 parts;
u32 output_origin;
HEED_PARAMS_END(heed_attention_join_params)
