/* DINOv3 in timm's names. Source: timm's eva.py. */
#include "model/family.h"

const heed_family heed_family_dinov3_timm = {
    .name = "dinov3 (timm)",
    .architectures = "*dinov3*",
    .names = &heed_names_timm,
    .marks = "#gamma_1",
    .has = HEED_GROUP(CLS) | HEED_GROUP(REGISTERS),
    .lacks = HEED_GROUP(POSITIONS),
    .processor = "DINOv3ViT",
    .rules = {.positions = &heed_positions_antialiased,
              .rotation = {.kind = HEED_ROTATION_CENTRED, .base = 100, .half = true},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(REGISTERS) | HEED_GROUP(PATCH_BIAS) |
                       HEED_GROUP(FINAL_NORM),
              .architecture = "vit_7b_dinov3",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
};
