/* The Perception Encoder's core towers in timm's names: learned and rotary positions, and a pooling
 * attention of 8 heads over all tokens. Source: timm's eva.py. */
#include "model/families/family.h"

const heed_family heed_family_pe_core = {
    .name = "pe_core",
    .architectures = "vit_pe_core_*",
    .names = &heed_names_timm,
    .hints = "attn_pool.latent",
    .assumption = "PE core's rules, as there are a norm before the layers and a pooling attention",
    .has = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM) | HEED_GROUP(PROBE),
    .processor = "timm",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation = {.kind = HEED_ROTATION_AXIAL,
                           .base = 10000,
                           .offset = 1,
                           .own_grid = true,
                           .columns_first = true},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM) | HEED_GROUP(FINAL_NORM),
              .pool_heads = 8,
              .architecture = "vit_pe_",
              .probe_reads_all = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
};
