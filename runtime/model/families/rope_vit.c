/* RoPE-ViT (Heo et al. 2024) in timm's names: rotary positions of row and column numbers, or by
 * learned frequencies (mixed), with learned positions beside them or without. Source: timm's
 * eva.py. */
#include "model/families/family.h"

const heed_family heed_family_rope_vit = {
    .name = "rope_vit",
    .architectures = "vit_*_rope_224|vit_*_rope_ape_*|vit_*_rope_mixed_*",
    .names = &heed_names_timm,
    .marks = "rope.freqs",
    .hints = "#gamma_1",
    /* Files with learned positions beside axial ones have the tensors of DeiT-III. */
    .lacks = HEED_GROUP(REGISTERS) | HEED_GROUP(PRE_NORM),
    .hints_lack = HEED_GROUP(POSITIONS),
    .assumption = "RoPE-ViT's rules, as there are no positions",
    .processor = "timm",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation = {.kind = HEED_ROTATION_AXIAL, .base = 100, .columns_first = true},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM),
              .architecture = "vit_",
              .probe_reads_all = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
