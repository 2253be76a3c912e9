/* Push constants of linear_attention.comp, and its passes. */
#include "params/types.h"

#define HEED_LINEAR_ATTENTION_STATE 0
#define HEED_LINEAR_ATTENTION_SUM 1
#define HEED_LINEAR_ATTENTION_SCORES 2
#define HEED_LINEAR_ATTENTION_ROWS 3
#define HEED_LINEAR_ATTENTION_RECURRENT 4

HEED_PARAMS_BEGIN(heed_linear_attention_params)
u32 count;      /* items of this pass */
u32 first_head; /* of the group; states and scores are the group's */
u32 queries, keys, depth, value_depth;
u32 chunks;                 /* a head */
u32 first_token, end_token; /* of a piece of the recurrent form */
u32 scores_origin;          /* in the scratch, after the states */
u32 query_origin, key_origin, value_origin, output_origin;
HEED_PARAMS_END(heed_linear_attention_params)
