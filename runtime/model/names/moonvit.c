/* MoonViT, the vision tower of Kimi-VL. Source: moonshotai/Kimi-VL's modeling_kimi_vl.py. Rows of
 * the fused projection are query, key, value. */
#include "model/names/names.h"

#define ROWS(ROW)                                        \
  ROW("patch_embed.pos_emb.weight", POSITION_EMBEDDINGS) \
  ROW("patch_embed.proj.", PATCH_WEIGHT)                 \
  ROW("#norm0.", NORM1_WEIGHT)                           \
  ROW("#wqkv.@0/3", QUERY_WEIGHT)                        \
  ROW("#wqkv.@1/3", KEY_WEIGHT)                          \
  ROW("#wqkv.@2/3", VALUE_WEIGHT)                        \
  ROW("#wo.", ATTENTION_OUTPUT_WEIGHT)                   \
  ROW("#norm1.", NORM2_WEIGHT)                           \
  ROW("#mlp.fc0.", FC1_WEIGHT)                           \
  ROW("#mlp.fc1.", FC2_WEIGHT)                           \
  ROW("encoder.final_layernorm.", FINAL_NORM_WEIGHT)

HEED_NAMES(moonvit, "encoder.blocks.#norm0.weight", NULL, ROWS);
