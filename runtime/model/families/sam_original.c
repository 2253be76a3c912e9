/* SAM's image encoder in its authors' own files and in timm's, without its neck. Sources:
 * facebookresearch/segment-anything's image_encoder.py; timm's vision_transformer_sam.py. */
#include "model/families/family.h"

const heed_family heed_family_sam_original = {
    .name = "sam (timm, original)",
    .architectures = "samvit_*",
    .names = &heed_names_timm,
    .marks = "#attn.rel_pos_h",
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) |
             HEED_GROUP(LAYER_SCALES) | HEED_GROUP(GATE) | HEED_GROUP(FINAL_NORM) |
             HEED_GROUP(CLASSIFIER),
    .processor = "Sam",
    .rules = {.positions = &heed_positions_antialiased,
              .pool = HEED_POOL_PATCHES,
              .neck = true,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(POSITIONS) | HEED_GROUP(RELATIVE),
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
