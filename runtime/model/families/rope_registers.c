/* timm's ViTs with registers, rotary positions and average pooling (vit_*_rope_reg*_gap). Source:
 * timm's eva.py. */
#include "model/families/family.h"

const heed_family heed_family_rope_registers = {
    .name = "rope_registers",
    .architectures = "vit_*_rope_reg*",
    .names = &heed_names_timm,
    .hints = "#gamma_1",
    .assumption = "the rules of timm's rope_reg, as there are registers and no positions",
    .has = HEED_GROUP(REGISTERS),
    .lacks = HEED_GROUP(POSITIONS) | HEED_GROUP(CLS),
    .processor = "timm",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation = {.kind = HEED_ROTATION_AXIAL, .base = 10000, .reference = 16},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(REGISTERS) | HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM),
              .architecture = "vit_",
              .probe_reads_all = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
