/* Swin in timm's names and in those of Microsoft's own files. Sources: timm's swin_transformer.py;
 * microsoft/Swin-Transformer. */
#include "model/families/family.h"

const heed_family heed_family_swin_timm = {
    .name = "swin (timm, original)",
    .architectures = "swin_*",
    .names = &heed_names_swin_timm,
    .has = HEED_GROUP(POSITION_BIAS),
    .lacks = HEED_GROUP(POSITIONS) | HEED_GROUP(QUERY_KEY_NORMS),
    .fallback = true,
    .processor = "timm",
    .rules = {.made_positions = HEED_POSITIONS_NONE,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM) | HEED_GROUP(PATCH_NORMS) |
                       HEED_GROUP(POSITION_BIAS),
              .pooled_without_classes = true,
              .staged = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.stage_window = 7},
};
