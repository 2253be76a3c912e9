/* Hugging Face's ViT, DeiT, DINOv2, DINOv3, BEiT and V-JEPA 2. Source: transformers'
 * modeling_vit.py, modeling_deit.py, modeling_dinov2.py, modeling_dinov3_vit.py, modeling_beit.py,
 * modeling_vjepa2.py, before and after the refactoring of transformers 5 (pull request 41693). */
#include "model/names/names.h"

#define ROWS(ROW)                                                                                  \
  ROW("?embeddings.cls_token", CLS_TOKEN)                                                          \
  ROW("?embeddings.distillation_token", DISTILLATION_TOKEN)                                        \
  ROW("?embeddings.register_tokens", REGISTER_TOKENS)                                              \
  ROW("?embeddings.position_embeddings", POSITION_EMBEDDINGS)                                      \
  ROW("?encoder.relative_position_bias.relative_position_bias_table", SHARED_POSITION_BIAS)        \
  ROW("embeddings.patch_embeddings.projection.|embeddings.patch_embeddings.|embeddings.patch_"     \
      "embeddings.proj.",                                                                          \
      PATCH_WEIGHT)                                                                                \
  ROW("#layernorm_before.|#norm1.", NORM1_WEIGHT)                                                  \
  ROW("#attention.attention.query.|#attention.query.|#attention.q_proj.|#attention.attention.q_?", \
      QUERY_WEIGHT)                                                                                \
  ROW("#attention.attention.key.|#attention.key.|#attention.k_proj.?", KEY_WEIGHT)                 \
  ROW("#attention.attention.value.|#attention.value.|#attention.v_proj.|#attention.attention.v_?", \
      VALUE_WEIGHT)                                                                                \
  ROW("?#attention.attention.relative_position_bias.relative_position_bias_table", POSITION_BIAS)  \
  ROW("#attention.output.dense.|#attention.o_proj.|#attention.projection_layer.|#attention.proj.", \
      ATTENTION_OUTPUT_WEIGHT)                                                                     \
  ROW("?#attention.q_norm.", QUERY_NORM_WEIGHT)                                                    \
  ROW("?#attention.k_norm.", KEY_NORM_WEIGHT)                                                      \
  ROW("?#layer_scale1.lambda1|#lambda_1", LAYER_SCALE1)                                            \
  ROW("#layernorm_after.|#norm2.", NORM2_WEIGHT)                                                   \
  ROW("?#mlp.weights_in.@0/2|#mlp.gate_proj.", GATE_WEIGHT)                                        \
  ROW("#intermediate.dense.|#mlp.fc1.|#mlp.weights_in.@1/2|#mlp.up_proj.", FC1_WEIGHT)             \
  ROW("#output.dense.|#mlp.fc2.|#mlp.weights_out.|#mlp.down_proj.", FC2_WEIGHT)                    \
  ROW("?#layer_scale2.lambda1|#lambda_2", LAYER_SCALE2)                                            \
  ROW("?layernorm.|norm.", FINAL_NORM_WEIGHT)                                                      \
  ROW("?pooler.layernorm.|/fc_norm.", POOL_NORM_WEIGHT)                                            \
  ROW("?/classifier.{0,1}.!", HEAD_NORM_WEIGHT)                                                    \
  ROW("?/classifier.{0,1,2}.!", HEAD_HIDDEN_WEIGHT)                                                \
  ROW("?/classifier.|/cls_classifier.|/classifier.{6,5,4,3,2,1,0}.!", CLASSIFIER_WEIGHT)           \
  ROW("?/distillation_classifier.", DISTILLATION_CLASSIFIER_WEIGHT)                                \
  ROW("?pooler.dense.", POOLER_WEIGHT)

HEED_NAMES(hugging_face,
           "encoder.layer.#layernorm_before.weight|layers.#layernorm_before.weight|"
           "encoder.layer.#norm1.weight|layer.#norm1.weight|model.layer.#norm1.weight",
           "/cls_classifier.weight", ROWS);
