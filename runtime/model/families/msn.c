/* MSN. Source: transformers' modeling_vit_msn.py, configuration_vit_msn.py. */
#include "model/families/family.h"

const heed_family heed_family_msn = {
    .name = "vit_msn",
    .types = "vit_msn",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) | HEED_GROUP(LAYER_SCALES),
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
