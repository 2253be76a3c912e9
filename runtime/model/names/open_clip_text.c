/* CLIP's text tower in the names of OpenAI and of open_clip, whose projection is stored [C, E] or
 * is a linear map. Sources: openai/CLIP's model.py; open_clip's transformer.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                                    \
  ROW("token_embedding.weight", TOKEN_EMBEDDINGS)                    \
  ROW("positional_embedding<", POSITION_EMBEDDINGS)                  \
  ROW("#ln_1.", NORM1_WEIGHT)                                        \
  ROW("#attn.in_proj_@0/3", QUERY_WEIGHT)                            \
  ROW("#attn.in_proj_@1/3", KEY_WEIGHT)                              \
  ROW("#attn.in_proj_@2/3", VALUE_WEIGHT)                            \
  ROW("#attn.out_proj.", ATTENTION_OUTPUT_WEIGHT)                    \
  ROW("?#ls_1.gamma", LAYER_SCALE1)                                  \
  ROW("#ln_2.", NORM2_WEIGHT)                                        \
  ROW("#mlp.c_fc.", FC1_WEIGHT)                                      \
  ROW("#mlp.c_proj.", FC2_WEIGHT)                                    \
  ROW("?#ls_2.gamma", LAYER_SCALE2)                                  \
  ROW("ln_final.", FINAL_NORM_WEIGHT)                                \
  ROW("?text_projection^|text_projection.weight", PROJECTION_WEIGHT) \
  ROW("?text_projection.bias", PROJECTION_BIAS)

HEED_NAMES(open_clip_text, "transformer.resblocks.#ln_1.weight", NULL, ROWS);
