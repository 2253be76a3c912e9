/* AIMv2 in Hugging Face's names and in Apple's. Source: transformers' modeling_aimv2.py;
 * apple/ml-aim's aim-v2. Rows of the fused projection are query, key, value. */
#include "model/names/names.h"

#define ROWS(ROW)                                                                          \
  ROW("embeddings.position_embedding.weight<|preprocessor.pos_embed", POSITION_EMBEDDINGS) \
  ROW("embeddings.patch_embed.|preprocessor.patchifier.proj.", PATCH_WEIGHT)               \
  ROW("embeddings.rms_norm.|preprocessor.patchifier.norm.", EMBEDDED_NORM_WEIGHT)          \
  ROW("#rms_norm1.|#norm_1.", NORM1_WEIGHT)                                                \
  ROW("#attention.q_proj.|#attn.qkv.@0/3", QUERY_WEIGHT)                                   \
  ROW("#attention.k_proj.|#attn.qkv.@1/3", KEY_WEIGHT)                                     \
  ROW("#attention.v_proj.|#attn.qkv.@2/3", VALUE_WEIGHT)                                   \
  ROW("#attention.out_proj.|#attn.proj.", ATTENTION_OUTPUT_WEIGHT)                         \
  ROW("#rms_norm2.|#norm_2.", NORM2_WEIGHT)                                                \
  ROW("#ffn.gate_proj.|#mlp.fc1.", GATE_WEIGHT)                                            \
  ROW("#ffn.up_proj.|#mlp.fc3.", FC1_WEIGHT)                                               \
  ROW("#ffn.down_proj.|#mlp.fc2.", FC2_WEIGHT)                                             \
  ROW("rms_norm.|trunk.post_trunk_norm.", FINAL_NORM_WEIGHT)

HEED_NAMES(aimv2, "encoder.layers.#rms_norm1.weight|trunk.blocks.#norm_1.weight", NULL, ROWS);
