/* Pixtral's vision tower, which is that of Mistral 3. Source: transformers' modeling_pixtral.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                    \
  ROW("patch_conv.?", PATCH_WEIGHT)                  \
  ROW("ln_pre.", PRE_NORM_WEIGHT)                    \
  ROW("#attention_norm.", NORM1_WEIGHT)              \
  ROW("#attention.q_proj.", QUERY_WEIGHT)            \
  ROW("#attention.k_proj.", KEY_WEIGHT)              \
  ROW("#attention.v_proj.", VALUE_WEIGHT)            \
  ROW("#attention.o_proj.", ATTENTION_OUTPUT_WEIGHT) \
  ROW("#ffn_norm.", NORM2_WEIGHT)                    \
  ROW("#feed_forward.gate_proj.", GATE_WEIGHT)       \
  ROW("#feed_forward.up_proj.", FC1_WEIGHT)          \
  ROW("#feed_forward.down_proj.", FC2_WEIGHT)

HEED_NAMES(pixtral, "transformer.layers.#attention_norm.weight", NULL, ROWS);
