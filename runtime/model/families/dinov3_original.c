/* DINOv3 in timm's names, and the files of facebookresearch/dinov3, which have nearly the same:
 * they mask the bias of the keys and store the periods of the rotation, rounded to bfloat16.
 * Sources: timm's eva.py; dinov3's vision_transformer.py, attention.py and
 * rope_position_encoding.py. */
#include "model/families/family.h"

const heed_family heed_family_dinov3_original = {
    .name = "dinov3 (timm, original)",
    .architectures = "*dinov3*",
    .names = &heed_names_timm,
    .marks = "rope_embed.periods",
    .hints = "#gamma_1",
    .assumption = "DINOv3's rules, as there are CLS and registers and no positions",
    .hints_have = HEED_GROUP(CLS) | HEED_GROUP(REGISTERS),
    .lacks = HEED_GROUP(POSITIONS),
    .processor = "DINOv3ViT",
    .rules = {.positions = &heed_positions_antialiased,
              .rotation = {.kind = HEED_ROTATION_CENTRED, .base = 100, .half = true},
              .key_bias = HEED_KEY_BIAS_ZERO,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(REGISTERS) | HEED_GROUP(PATCH_BIAS) |
                       HEED_GROUP(FINAL_NORM),
              .architecture = "vit_7b_dinov3",
              .probe_reads_all = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
};
