/* ViT, and DINO in Hugging Face's names. Source: transformers' modeling_vit.py,
 * configuration_vit.py. */
#include "model/families/family.h"

const heed_family heed_family_vit = {
    .name = "vit",
    .types = "vit",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "vit.",
    .inner_shared = true,
    .fallback = true,
    .assumption = "ViT's rules (files of MAE and MSN have the same names)",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) | HEED_GROUP(LAYER_SCALES),
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-12f,
              .activation = HEED_ACTIVATION_GELU},
};
