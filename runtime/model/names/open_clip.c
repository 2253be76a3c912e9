/* CLIP in the names of OpenAI and of open_clip, and the Perception Encoder in those of its authors.
 * The projection is stored [C, E]. Sources: openai/CLIP's model.py; open_clip's transformer.py;
 * facebookresearch/perception_models' pe.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                         \
  ROW("?class_embedding<", CLS_TOKEN)                     \
  ROW("positional_embedding<", POSITION_EMBEDDINGS)       \
  ROW("conv1.?", PATCH_WEIGHT)                            \
  ROW("?ln_pre.", PRE_NORM_WEIGHT)                        \
  ROW("#ln_1.", NORM1_WEIGHT)                             \
  ROW("#attn.in_proj_@0/3", QUERY_WEIGHT)                 \
  ROW("#attn.in_proj_@1/3", KEY_WEIGHT)                   \
  ROW("#attn.in_proj_@2/3", VALUE_WEIGHT)                 \
  ROW("#attn.out_proj.", ATTENTION_OUTPUT_WEIGHT)         \
  ROW("?#ls_1.gamma", LAYER_SCALE1)                       \
  ROW("#ln_2.", NORM2_WEIGHT)                             \
  ROW("#mlp.c_fc.", FC1_WEIGHT)                           \
  ROW("#mlp.c_proj.", FC2_WEIGHT)                         \
  ROW("?#ls_2.gamma", LAYER_SCALE2)                       \
  ROW("?ln_post.", FINAL_NORM_WEIGHT)                     \
  ROW("?attn_pool.probe", PROBE)                          \
  ROW("?attn_pool.attn.in_proj_@0/3", PROBE_QUERY_WEIGHT) \
  ROW("?attn_pool.attn.in_proj_@1/3", PROBE_KEY_WEIGHT)   \
  ROW("?attn_pool.attn.in_proj_@2/3", PROBE_VALUE_WEIGHT) \
  ROW("?attn_pool.attn.out_proj.", PROBE_OUTPUT_WEIGHT)   \
  ROW("?attn_pool.layernorm.", PROBE_NORM_WEIGHT)         \
  ROW("?attn_pool.mlp.c_fc.", PROBE_FC1_WEIGHT)           \
  ROW("?attn_pool.mlp.c_proj.", PROBE_FC2_WEIGHT)         \
  ROW("?proj^", PROJECTION_WEIGHT)

HEED_NAMES(open_clip, "transformer.resblocks.#ln_1.weight", NULL, ROWS);
