/* The Perception Encoder's towers for language and dense tasks in timm's names: learned and rotary
 * positions, and no final norm. Source: timm's eva.py. */
#include "model/families/family.h"

const heed_family heed_family_pe = {
    .name = "pe",
    .architectures = "vit_pe_lang_*|vit_pe_spatial_*",
    .names = &heed_names_timm,
    .hints = "#gamma_1",
    .assumption = "PE's rules, as there is no final norm",
    .has = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM),
    .lacks = HEED_GROUP(FINAL_NORM),
    .processor = "timm",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation = {.kind = HEED_ROTATION_AXIAL,
                           .base = 10000,
                           .offset = 1,
                           .own_grid = true,
                           .columns_first = true},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM),
              .architecture = "vit_pe_",
              .probe_reads_all = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
};
