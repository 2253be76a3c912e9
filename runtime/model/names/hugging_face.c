/* Hugging Face's ViT, DeiT, DINOv2, DINOv3 and BEiT. Source: transformers' modeling_vit.py,
 * modeling_deit.py, modeling_dinov2.py, modeling_dinov3_vit.py, modeling_beit.py, before and after
 * the refactoring of transformers 5 (pull request 41693). */
#include "model/names.h"

static const heed_name rows[] = {
    {"?embeddings.cls_token", HEED_ROLE_CLS_TOKEN},
    {"?embeddings.distillation_token", HEED_ROLE_DISTILLATION_TOKEN},
    {"?embeddings.register_tokens", HEED_ROLE_REGISTER_TOKENS},
    {"?embeddings.position_embeddings", HEED_ROLE_POSITION_EMBEDDINGS},
    {"?encoder.relative_position_bias.relative_position_bias_table",
     HEED_ROLE_SHARED_POSITION_BIAS},
    {"embeddings.patch_embeddings.projection.|embeddings.patch_embeddings.",
     HEED_ROLE_PATCH_WEIGHT},
    {"#layernorm_before.|#norm1.", HEED_ROLE_NORM1_WEIGHT},
    {"#attention.attention.query.|#attention.q_proj.?", HEED_ROLE_QUERY_WEIGHT},
    {"#attention.attention.key.|#attention.k_proj.?", HEED_ROLE_KEY_WEIGHT},
    {"#attention.attention.value.|#attention.v_proj.?", HEED_ROLE_VALUE_WEIGHT},
    {"?#attention.attention.relative_position_bias.relative_position_bias_table",
     HEED_ROLE_POSITION_BIAS},
    {"#attention.output.dense.|#attention.o_proj.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
    {"?#layer_scale1.lambda1|#lambda_1", HEED_ROLE_LAYER_SCALE1},
    {"#layernorm_after.|#norm2.", HEED_ROLE_NORM2_WEIGHT},
    {"?#mlp.weights_in.@0/2|#mlp.gate_proj.", HEED_ROLE_GATE_WEIGHT},
    {"#intermediate.dense.|#mlp.fc1.|#mlp.weights_in.@1/2|#mlp.up_proj.", HEED_ROLE_FC1_WEIGHT},
    {"#output.dense.|#mlp.fc2.|#mlp.weights_out.|#mlp.down_proj.", HEED_ROLE_FC2_WEIGHT},
    {"?#layer_scale2.lambda1|#lambda_2", HEED_ROLE_LAYER_SCALE2},
    {"?layernorm.|norm.", HEED_ROLE_FINAL_NORM_WEIGHT},
    {"?pooler.layernorm.", HEED_ROLE_POOL_NORM_WEIGHT},
    {"?/classifier.|/cls_classifier.", HEED_ROLE_CLASSIFIER_WEIGHT},
    {"?/distillation_classifier.", HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT},
    {"?pooler.dense.", HEED_ROLE_POOLER_WEIGHT},
    {0}};

const heed_names heed_names_hugging_face = {
    "encoder.layer.#layernorm_before.weight|layers.#layernorm_before.weight|"
    "encoder.layer.#norm1.weight|layer.#norm1.weight|model.layer.#norm1.weight",
    rows, "/cls_classifier.weight"};
