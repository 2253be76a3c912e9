/* Push constants of attention.comp. Strides and origins in elements (bytes for the U8 masks). */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_params)
u32 batch, heads, key_heads, queries, keys; /* B H Hk Tq Tk */
u32 rows;                                   /* of weights and logits */
f32 scale, softcap;
i32 offset, window_left, window_right; /* key position of query i is i + offset */
u32 mask_stride[4], bias_stride[4];    /* batch, head, query, key */
u32 query_origin, key_origin, value_origin, output_origin;
u32 mask_origin, key_padding_origin, query_padding_origin, bias_origin;
u32 weights_origin, logits_origin, rows_origin;
HEED_PARAMS_END(heed_attention_params)
