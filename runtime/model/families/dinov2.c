/* DINOv2. Source: transformers' modeling_dinov2.py, configuration_dinov2.py. */
#include "model/families/family.h"

const heed_family heed_family_dinov2 = {
    .name = "dinov2",
    .types = "dinov2",
    .names = &heed_names_hugging_face,
    .anchor = "encoder.layer.#norm1",
    .inner = "dinov2.",
    .lacks = HEED_GROUP(REGISTERS),
    .fallback = true,
    .processor = "Dinov2",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .pool = HEED_POOL_CLS_AND_PATCHES,
              .cls_pooled = true,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(LAYER_SCALES) | HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_ratio = 4,
                 .gated = "use_swiglu_ffn",
                 .image_size = 224,
                 .patch = 14},
};
