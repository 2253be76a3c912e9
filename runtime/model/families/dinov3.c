/* DINOv3, plain and gated, small to 7B. Source: transformers' modeling_dinov3_vit.py,
 * configuration_dinov3_vit.py. */
#include "model/families/family.h"

const heed_family heed_family_dinov3 = {
    .name = "dinov3",
    .types = "dinov3_vit|DINOv3ViT",
    .names = &heed_names_hugging_face,
    .anchor = "norm1",
    .lacks = HEED_GROUP(POSITIONS) | HEED_GROUP(CLASSIFIER),
    .fallback = true,
    .processor = "DINOv3ViT",
    .rules = {.positions = &heed_positions_plain,
              .rotation = {.kind = HEED_ROTATION_CENTRED, .base = 100, .half = true},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(LAYER_SCALES),
              .cls_pooled = true,
              .gate_activation = true,
              .architecture = "vit_7b_dinov3",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 384,
                 .layers = 12,
                 .heads = 6,
                 .mlp_width = 1536,
                 .image_size = 224,
                 .patch = 16,
                 .gated = "use_gated_mlp"},
};
