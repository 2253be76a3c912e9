/* Files of facebookresearch/dinov2 with registers. Source: its vision_transformer.py and
 * hub/backbones.py. */
#include "model/families/family.h"

const heed_family heed_family_dinov2_original_registers = {
    .name = "dinov2_with_registers (original)",
    .types = "",
    .names = &heed_names_timm,
    .marks = "register_tokens|mask_token:2",
    .hints = "storage_tokens",
    .assumption = "DINOv2's rules, as there are storage tokens and positions",
    .has = HEED_GROUP(REGISTERS) | HEED_GROUP(POSITIONS),
    .processor = "Dinov2",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM),
              .architecture = "dinov2",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
