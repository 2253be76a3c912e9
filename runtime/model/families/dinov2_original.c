/* Files of facebookresearch/dinov2. Source: its vision_transformer.py and hub/backbones.py. */
#include "model/families/family.h"

const heed_family heed_family_dinov2_original = {
    .name = "dinov2 (original)",
    .types = "",
    .names = &heed_names_timm,
    .marks = "mask_token:2",
    .has = HEED_GROUP(POSITIONS),
    .lacks = HEED_GROUP(REGISTERS),
    .processor = "Dinov2",
    .rules = {.positions = &heed_positions_offset,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM),
              .architecture = "dinov2",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
