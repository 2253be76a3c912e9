/* torchvision's ViT, whose older files call the maps of the MLP linear_1 and linear_2. Source:
 * torchvision's models/vision_transformer.py. */
#include "model/names.h"

static const heed_name rows[] = {{"class_token", HEED_ROLE_CLS_TOKEN},
                                 {"encoder.pos_embedding", HEED_ROLE_POSITION_EMBEDDINGS},
                                 {"conv_proj.", HEED_ROLE_PATCH_WEIGHT},
                                 {"#ln_1.", HEED_ROLE_NORM1_WEIGHT},
                                 {"#self_attention.in_proj_@0/3", HEED_ROLE_QUERY_WEIGHT},
                                 {"#self_attention.in_proj_@1/3", HEED_ROLE_KEY_WEIGHT},
                                 {"#self_attention.in_proj_@2/3", HEED_ROLE_VALUE_WEIGHT},
                                 {"#self_attention.out_proj.", HEED_ROLE_ATTENTION_OUTPUT_WEIGHT},
                                 {"#ln_2.", HEED_ROLE_NORM2_WEIGHT},
                                 {"#mlp.0.|#mlp.linear_1.", HEED_ROLE_FC1_WEIGHT},
                                 {"#mlp.3.|#mlp.linear_2.", HEED_ROLE_FC2_WEIGHT},
                                 {"encoder.ln.", HEED_ROLE_FINAL_NORM_WEIGHT},
                                 {"?heads.head.", HEED_ROLE_CLASSIFIER_WEIGHT},
                                 {0}};

const heed_names heed_names_torchvision = {"encoder.layers.encoder_layer_#ln_1.weight", rows, NULL};
