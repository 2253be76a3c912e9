/* MoonViT, the vision tower of Kimi-VL, alone or in the whole model: positions that are stored as a
 * grid, then rotary ones that take columns and rows in turn. Tokens are in raster order. Source:
 * moonshotai/Kimi-VL's modeling_kimi_vl.py, configuration_kimi_vl.py. */
#include "model/families/family.h"

const heed_family heed_family_moonvit = {
    .name = "moonvit",
    .types = "moonvit",
    .names = &heed_names_moonvit,
    .fallback = true,
    .processor = "Siglip",
    .rules = {.positions = &heed_positions_plain,
              .rotation = {.kind = HEED_ROTATION_AXIAL,
                           .base = 10000,
                           .columns_first = true,
                           .in_turn = true},
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PATCH_BIAS),
              .architecture = "moonvit",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU_TANH},
    .defaults = {.width = 1152,
                 .layers = 27,
                 .heads = 16,
                 .mlp_width = 4304,
                 .patch = 14,
                 .any_size = true},
    .keys = {.others = "init_pos_emb_height|init_pos_emb_width|merge_kernel_size"},
};
