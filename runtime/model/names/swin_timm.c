/* timm's Swin and SwinV2, and Microsoft's own files. Sources: timm's swin_transformer.py and
 * swin_transformer_v2.py; the same of microsoft/Swin-Transformer. Rows of the fused projection are
 * query, key, value. */
#include "model/names/names.h"

#define ROWS(ROW)                                           \
  ROW("patch_embed.proj.", PATCH_WEIGHT)                    \
  ROW("?patch_embed.norm.", EMBEDDED_NORM_WEIGHT)           \
  ROW("?>downsample.norm.", MERGE_NORM_WEIGHT)              \
  ROW("?>downsample.reduction.weight", MERGE_WEIGHT)        \
  ROW("#norm1.", NORM1_WEIGHT)                              \
  ROW("#attn.qkv.@0/3|#attn.q_?", QUERY_WEIGHT)             \
  ROW("#attn.qkv.@1/3|#attn.k_?", KEY_WEIGHT)               \
  ROW("#attn.qkv.@2/3|#attn.v_?", VALUE_WEIGHT)             \
  ROW("?#attn.logit_scale", LOGIT_SCALE)                    \
  ROW("?#attn.cpb_mlp.0.", POSITION_HIDDEN_WEIGHT)          \
  ROW("?#attn.cpb_mlp.2.weight", POSITION_OUTPUT)           \
  ROW("?#attn.relative_position_bias_table", POSITION_BIAS) \
  ROW("#attn.proj.", ATTENTION_OUTPUT_WEIGHT)               \
  ROW("#norm2.", NORM2_WEIGHT)                              \
  ROW("#mlp.fc1.", FC1_WEIGHT)                              \
  ROW("#mlp.fc2.", FC2_WEIGHT)                              \
  ROW("?norm.", FINAL_NORM_WEIGHT)                          \
  ROW("?head.fc.|head.", CLASSIFIER_WEIGHT)

HEED_NAMES(swin_timm, "layers.#blocks.#norm1.weight", NULL, ROWS);
