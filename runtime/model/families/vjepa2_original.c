/* V-JEPA 2's encoder in its authors' own files, whose names are timm's. Positions that such a file
 * stores are of no use to it; V-JEPA's files, which have the same names, would need them. Source:
 * facebookresearch/vjepa2's vision_transformer.py, modules.py. */
#include "model/families/family.h"

const heed_family heed_family_vjepa2_original = {
    .name = "vjepa2 (original)",
    .names = &heed_names_timm,
    .hints = "patch_embed.proj.weight:5",
    .assumption = "V-JEPA 2's rules, without added positions (V-JEPA's files have the same names)",
    .has = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(KEY_BIAS) | HEED_GROUP(FINAL_NORM),
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) |
             HEED_GROUP(LAYER_SCALES) | HEED_GROUP(GATE),
    .processor = "torchvision",
    .rules = {.made_positions = HEED_POSITIONS_NONE,
              .pool = HEED_POOL_PATCHES,
              .rotation = {.kind = HEED_ROTATION_VIDEO, .base = 10000},
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(QKV_BIASES) | HEED_GROUP(FINAL_NORM),
              .architecture = "vjepa2",
              .video = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.image_size = 256, .frames = 64},
};
