/* VideoMAE and VideoMAE V2 in their authors' own files, whose names are timm's: as VideoMAE of
 * Hugging Face, but the norm of the mean has the epsilon of the others. Sources:
 * modeling_finetune.py and modeling_pretrain.py of MCG-NJU/VideoMAE and OpenGVLab/VideoMAEv2. */
#include "model/families/family.h"

const heed_family heed_family_videomae_original = {
    .name = "videomae (original)",
    .names = &heed_names_timm,
    .has = HEED_GROUP(QKV_BIASES),
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(REGISTERS) | HEED_GROUP(POSITIONS) |
             HEED_GROUP(KEY_BIAS) | HEED_GROUP(GATE),
    .marks = "patch_embed.proj.weight:5",
    .processor = "the original VideoMAE",
    .rules = {.made_positions = HEED_POSITIONS_SINES,
              .pool = HEED_POOL_PATCHES,
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM) | HEED_GROUP(QKV_BIASES),
              .classifier_needs = HEED_GROUP(POOL_NORM),
              .architecture = "vit_small_base_large_huge_giant_",
              .video = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.frames = 16},
};
