/* SwinV2 in timm's names and in those of Microsoft's own files. Sources: timm's
 * swin_transformer_v2.py; microsoft/Swin-Transformer. */
#include "model/families/family.h"

const heed_family heed_family_swinv2_timm = {
    .name = "swinv2 (timm, original)",
    .architectures = "swinv2_*",
    .names = &heed_names_swin_timm,
    .has = HEED_GROUP(QUERY_KEY_NORMS),
    .lacks = HEED_GROUP(POSITIONS) | HEED_GROUP(POSITION_BIAS),
    .fallback = true,
    .processor = "timm",
    .rules = {.made_positions = HEED_POSITIONS_NONE,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM) | HEED_GROUP(PATCH_NORMS) |
                       HEED_GROUP(QUERY_KEY_NORMS),
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .pooled_without_classes = true,
              .staged = true,
              .norm_inside = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.stage_window = 7},
};
