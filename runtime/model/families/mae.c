/* MAE's encoder in Hugging Face's names; its decoder lies outside of the prefix. The patches keep
 * their order: nothing is masked. Source: transformers' modeling_vit_mae.py. */
#include "model/families/family.h"

const heed_family heed_family_mae = {
    .name = "vit_mae",
    .types = "vit_mae",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) | HEED_GROUP(LAYER_SCALES),
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-12f,
              .activation = HEED_ACTIVATION_GELU},
};
