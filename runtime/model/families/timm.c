/* timm's vision_transformer.py and beit.py, alone or as open_clip's trunk, and files with its names
 * that no config explains. */
#include "model/families/family.h"

const heed_family heed_family_timm = {
    .name = "timm",
    .architectures = "*",
    .names = &heed_names_timm,
    .inner = "trunk.",
    .inner_shared = true,
    .fallback = true,
    .assumption = "timm's rules without rotary positions (files of DINO, MAE and RoPE-ViT "
                  "have the same names)",
    .processor = "timm",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation = {.base = 10000},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM),
              .bias_positions = &heed_positions_spread,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
