/* Push constants of attention_values.comp. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_values_params)
u32 heads, key_heads, queries, keys, depth; /* H Hk Tq Tk Dv */
u32 stride;                                 /* of a row of weights of the piece */
u32 first_slice, first_row, rows;           /* of this piece: b H + h, row, rows a slice */
u32 piece_key;                              /* of this piece: key of column 0, a multiple of 4 */
i32 offset, window_left, window_right;      /* key position of query i is i + offset */
u32 value_origin, output_origin;
HEED_PARAMS_END(heed_attention_values_params)
