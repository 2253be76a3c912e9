/* DeiT, with or without distillation. Source: transformers' modeling_deit.py. */
#include "model/families/family.h"

const heed_family heed_family_deit = {
    .name = "deit",
    .types = "deit",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "deit.",
    .marks = "embeddings.distillation_token",
    .lacks = HEED_GROUP(REGISTERS) | HEED_GROUP(LAYER_SCALES),
    .processor = "DeiT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-12f,
              .activation = HEED_ACTIVATION_GELU},
};
