/* torchvision's ViT, whose older files call the maps of the MLP linear_1 and linear_2. Source:
 * torchvision's models/vision_transformer.py. */
#include "model/names/names.h"

#define ROWS(ROW)                                           \
  ROW("class_token", CLS_TOKEN)                             \
  ROW("encoder.pos_embedding", POSITION_EMBEDDINGS)         \
  ROW("conv_proj.", PATCH_WEIGHT)                           \
  ROW("#ln_1.", NORM1_WEIGHT)                               \
  ROW("#self_attention.in_proj_@0/3", QUERY_WEIGHT)         \
  ROW("#self_attention.in_proj_@1/3", KEY_WEIGHT)           \
  ROW("#self_attention.in_proj_@2/3", VALUE_WEIGHT)         \
  ROW("#self_attention.out_proj.", ATTENTION_OUTPUT_WEIGHT) \
  ROW("#ln_2.", NORM2_WEIGHT)                               \
  ROW("#mlp.0.|#mlp.linear_1.", FC1_WEIGHT)                 \
  ROW("#mlp.3.|#mlp.linear_2.", FC2_WEIGHT)                 \
  ROW("encoder.ln.", FINAL_NORM_WEIGHT)                     \
  ROW("?heads.{0,1}.!", HEAD_NORM_WEIGHT)                   \
  ROW("?heads.pre_logits.", HEAD_HIDDEN_WEIGHT)             \
  ROW("?heads.head.|heads.{2,1,0}.!", CLASSIFIER_WEIGHT)

HEED_NAMES(torchvision, "encoder.layers.encoder_layer_#ln_1.weight", NULL, ROWS);
