/* Push constants of attention_scores.comp. Origins in elements (bytes for the U8 masks). */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_scores_params)
u32 heads, key_heads, queries, keys, depth; /* H Hk Tq Tk D */
/* of a row of scores: keys, of the piece, rounded up to 4 */
u32 stride;
u32 first_slice, first_row, rows; /* of this piece: b H + h, row, rows a slice */
u32 piece_key;                    /* of this piece: key of column 0, a multiple of 4 */
f32 scale, softcap;
i32 offset, window_left, window_right; /* key position of query i is i + offset */
u32 mask_stride[4], bias_stride[4];    /* batch, head, query, key */
u32 query_origin, key_origin, mask_origin, key_padding_origin, query_padding_origin, bias_origin,
    va_origin;
HEED_PARAMS_END(heed_attention_scores_params)
