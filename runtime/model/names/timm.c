/* timm's models, and the original files of DeiT, DINO, MAE, BEiT, DINOv2, DINOv3 and EVA-02.
 * Sources: timm's vision_transformer.py, beit.py, eva.py and attention_pool.py; the
 * vision_transformer.py of facebookresearch/dinov2 and dinov3. Rows of the fused projection are
 * query, key, value. */
#include "model/names.h"

static const heed_name rows[] = {
    {"?cls_token", HEED_ROLE_CLS_TOKEN},
    {"?dist_token", HEED_ROLE_DISTILLATION_TOKEN},
    {"?reg_token|register_tokens|storage_tokens", HEED_ROLE_REGISTER_TOKENS},
    {"?pos_embed", HEED_ROLE_POSITION_EMBEDDINGS},
    {"?rope.freqs", HEED_ROLE_FREQUENCIES},
    {"?rope_embed.periods", HEED_ROLE_PERIODS},
    {"patch_embed.proj.?", HEED_ROLE_PATCH_WEIGHT},
    {"?rel_pos_bias.relative_position_bias_table", HEED_ROLE_SHARED_POSITION_BIAS},
    {"?norm_pre.", HEED_ROLE_PRE_NORM_WEIGHT},
    {"#norm1.", HEED_ROLE_NORM1_WEIGHT},
    {"#attn.qkv.@0/3|#attn.q_proj.|#attn.q_?", HEED_ROLE_QUERY_WEIGHT},
    {"#attn.qkv.@1/3|#attn.k_proj.|#attn.k_?", HEED_ROLE_KEY_WEIGHT},
    {"#attn.qkv.@2/3|#attn.v_proj.|#attn.v_?", HEED_ROLE_VALUE_WEIGHT},
    {"?#attn.relative_position_bias_table", HEED_ROLE_POSITION_BIAS},
    {"?#attn.q_norm.", HEED_ROLE_QUERY_NORM_WEIGHT},
    {"?#attn.k_norm.", HEED_ROLE_KEY_NORM_WEIGHT},
    {"?#attn.norm.|#attn.inner_attn_ln.", HEED_ROLE_ATTENTION_NORM_WEIGHT},
    {"#attn.proj.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
    {"?#ls1.gamma|#gamma_1", HEED_ROLE_LAYER_SCALE1},
    {"#norm2.", HEED_ROLE_NORM2_WEIGHT},
    {"?#mlp.w12.@0/2|#mlp.fc1.~0/2|#mlp.fc1_g.|#mlp.w1.", HEED_ROLE_GATE_WEIGHT},
    {"#mlp.fc1.~1/2|#mlp.fc1.|#mlp.w12.@1/2|#mlp.fc1_x.|#mlp.w2.", HEED_ROLE_FC1_WEIGHT},
    {"?#mlp.norm.|#mlp.ffn_ln.", HEED_ROLE_MLP_NORM_WEIGHT},
    {"#mlp.fc2.|#mlp.w3.", HEED_ROLE_FC2_WEIGHT},
    {"?#ls2.gamma|#gamma_2", HEED_ROLE_LAYER_SCALE2},
    {"?norm.", HEED_ROLE_FINAL_NORM_WEIGHT},
    {"?fc_norm.", HEED_ROLE_POOL_NORM_WEIGHT},
    {"?attn_pool.latent", HEED_ROLE_PROBE},
    {"?attn_pool.q.", HEED_ROLE_PROBE_QUERY_WEIGHT},
    {"?attn_pool.kv.@0/2", HEED_ROLE_PROBE_KEY_WEIGHT},
    {"?attn_pool.kv.@1/2", HEED_ROLE_PROBE_VALUE_WEIGHT},
    {"?attn_pool.q_norm.", HEED_ROLE_PROBE_QUERY_NORM_WEIGHT},
    {"?attn_pool.k_norm.", HEED_ROLE_PROBE_KEY_NORM_WEIGHT},
    {"?attn_pool.proj.", HEED_ROLE_PROBE_OUTPUT_WEIGHT},
    {"?attn_pool.norm.", HEED_ROLE_PROBE_NORM_WEIGHT},
    {"?attn_pool.mlp.fc1.", HEED_ROLE_PROBE_FC1_WEIGHT},
    {"?attn_pool.mlp.fc2.", HEED_ROLE_PROBE_FC2_WEIGHT},
    {"?/head.proj.weight", HEED_ROLE_PROJECTION_WEIGHT},
    {"?head.", HEED_ROLE_CLASSIFIER_WEIGHT},
    {"?head_dist.", HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT},
    {0}};

const heed_names heed_names_timm = {"blocks.#norm1.weight", rows, "dist_token&head.weight"};
