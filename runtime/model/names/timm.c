/* timm's models, the original files of DeiT, DINO, MAE, BEiT, DINOv2, DINOv3, EVA-02 and SAM, RADIO
 * and the towers of Qwen2-VL to Qwen3-VL. Sources: transformers' modeling_qwen2_5_vl.py,
 * modeling_qwen3_vl.py; timm's vision_transformer.py, beit.py, eva.py and attention_pool.py; the
 * vision_transformer.py of facebookresearch/dinov2 and dinov3. Rows of the fused projection are
 * query, key, value. */
#include "model/names/names.h"

#define ROWS(ROW)                                                                       \
  ROW("?cls_token", CLS_TOKEN)                                                          \
  ROW("?dist_token", DISTILLATION_TOKEN)                                                \
  ROW("?reg_token|register_tokens|storage_tokens|patch_generator.cls_token.token<",     \
      REGISTER_TOKENS)                                                                  \
  ROW("?pos_embed|pos_embed.weight<|patch_generator.pos_embed", POSITION_EMBEDDINGS)    \
  ROW("?/radio_model.input_conditioner.norm_mean", PIXEL_MEAN)                          \
  ROW("?/radio_model.input_conditioner.norm_std", PIXEL_STD)                            \
  ROW("?rope.freqs", FREQUENCIES)                                                       \
  ROW("?rope_embed.periods", PERIODS)                                                   \
  ROW("patch_embed.proj.|patch_generator.embedder.?", PATCH_WEIGHT)                     \
  ROW("?patch_embed.norm.", EMBEDDED_NORM_WEIGHT)                                       \
  ROW("?rel_pos_bias.relative_position_bias_table", SHARED_POSITION_BIAS)               \
  ROW("?norm_pre.", PRE_NORM_WEIGHT)                                                    \
  ROW("#norm1.", NORM1_WEIGHT)                                                          \
  ROW("#attn.qkv.@0/3|#attn.q_proj.|#attn.q.|#attn.q_?", QUERY_WEIGHT)                  \
  ROW("#attn.qkv.@1/3|#attn.k_proj.|#attn.k.|#attn.k_?", KEY_WEIGHT)                    \
  ROW("#attn.qkv.@2/3|#attn.v_proj.|#attn.v.|#attn.v_?", VALUE_WEIGHT)                  \
  ROW("?#attn.relative_position_bias_table", POSITION_BIAS)                             \
  ROW("?#attn.q_norm.", QUERY_NORM_WEIGHT)                                              \
  ROW("?#attn.k_norm.", KEY_NORM_WEIGHT)                                                \
  ROW("?#attn.norm.|#attn.inner_attn_ln.", ATTENTION_NORM_WEIGHT)                       \
  ROW("?#attn.rel_pos_h", RELATIVE_ROWS)                                                \
  ROW("?#attn.rel_pos_w", RELATIVE_COLUMNS)                                             \
  ROW("#attn.proj.", ATTENTION_OUTPUT_WEIGHT)                                           \
  ROW("?#ls1.gamma|#gamma_1", LAYER_SCALE1)                                             \
  ROW("#norm2.", NORM2_WEIGHT)                                                          \
  ROW("?#mlp.w12.@0/2|#mlp.fc1.~0/2|#mlp.fc1_g.|#mlp.w1.|#mlp.gate_proj.", GATE_WEIGHT) \
  ROW("#mlp.fc1.~1/2|#mlp.fc1.|#mlp.w12.@1/"                                            \
      "2|#mlp.fc1_x.|#mlp.w2.|#mlp.up_proj.|#mlp.linear_fc1.|#mlp.lin1.",               \
      FC1_WEIGHT)                                                                       \
  ROW("?#mlp.norm.|#mlp.ffn_ln.", MLP_NORM_WEIGHT)                                      \
  ROW("#mlp.fc2.|#mlp.w3.|#mlp.down_proj.|#mlp.linear_fc2.|#mlp.lin2.", FC2_WEIGHT)     \
  ROW("?#ls2.gamma|#gamma_2", LAYER_SCALE2)                                             \
  ROW("?norm.", FINAL_NORM_WEIGHT)                                                      \
  ROW("?fc_norm.", POOL_NORM_WEIGHT)                                                    \
  ROW("?attn_pool.latent", PROBE)                                                       \
  ROW("?attn_pool.q.", PROBE_QUERY_WEIGHT)                                              \
  ROW("?attn_pool.kv.@0/2", PROBE_KEY_WEIGHT)                                           \
  ROW("?attn_pool.kv.@1/2", PROBE_VALUE_WEIGHT)                                         \
  ROW("?attn_pool.q_norm.", PROBE_QUERY_NORM_WEIGHT)                                    \
  ROW("?attn_pool.k_norm.", PROBE_KEY_NORM_WEIGHT)                                      \
  ROW("?attn_pool.proj.", PROBE_OUTPUT_WEIGHT)                                          \
  ROW("?attn_pool.norm.", PROBE_NORM_WEIGHT)                                            \
  ROW("?attn_pool.mlp.fc1.", PROBE_FC1_WEIGHT)                                          \
  ROW("?attn_pool.mlp.fc2.", PROBE_FC2_WEIGHT)                                          \
  ROW("?/head.proj.weight", PROJECTION_WEIGHT)                                          \
  ROW("?head.{0,1}.!", HEAD_NORM_WEIGHT)                                                \
  ROW("?head.{0,1,2}.!", HEAD_HIDDEN_WEIGHT)                                            \
  ROW("?head.|head.{6,5,4,3,2,1,0}.!", CLASSIFIER_WEIGHT)                               \
  ROW("?head_dist.", DISTILLATION_CLASSIFIER_WEIGHT)

HEED_NAMES(timm, "blocks.#norm1.weight", "dist_token&head.weight", ROWS);
