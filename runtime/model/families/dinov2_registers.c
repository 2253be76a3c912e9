/* DINOv2 with registers. Source: transformers' modeling_dinov2_with_registers.py. */
#include "model/families/family.h"

const heed_family heed_family_dinov2_registers = {
    .name = "dinov2_with_registers",
    .types = "dinov2_with_registers",
    .names = &heed_names_hugging_face,
    .anchor = "encoder.layer.#norm1",
    .inner = "dinov2_with_registers.",
    .has = HEED_GROUP(REGISTERS),
    .fallback = true,
    .processor = "Dinov2",
    .rules = {.positions = &heed_positions_antialiased,
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
                 .patch = 14,
                 .registers = 4},
};
