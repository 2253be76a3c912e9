/* AIMv2 in timm's names: RMS norms, also of the patches, a gate, no CLS, no biases but that of the
 * patches. Source: timm's vision_transformer.py. */
#include "model/families/family.h"

const heed_family heed_family_aimv2_timm = {
    .name = "aimv2 (timm)",
    .architectures = "aimv2_*",
    .names = &heed_names_timm,
    .has = HEED_GROUP(GATE) | HEED_GROUP(PATCH_NORMS),
    .lacks = HEED_GROUP(CLS),
    .marks = "patch_embed.norm.weight",
    .processor = "timm",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PATCH_BIAS) | HEED_GROUP(PATCH_NORMS) |
                       HEED_GROUP(GATE) | HEED_GROUP(FINAL_NORM),
              .rms = true,
              .unbiased = true,
              .gate_activation = true,
              .architecture = "aimv2_",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_SILU},
};
