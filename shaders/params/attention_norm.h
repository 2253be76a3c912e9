/* Push constants of attention_norm.comp. */
#include "params/types.h"

HEED_PARAMS_BEGIN(heed_attention_norm_params)
  u32 keys, stride;              /* Tk; of a row of scores */
  u32 slices, first_slice;       /* of this piece */
  u32 first_row, rows, all_rows; /* of this piece, rows a slice of it, rows a slice of weights and logits */
  f32 threshold;
  u32 weights_origin, logits_origin;
HEED_PARAMS_END(heed_attention_norm_params)
