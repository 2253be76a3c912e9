/* InternViT, the vision tower of InternVL 1.5 to 3.5, as OpenGVLab publishes it, alone or in the
 * whole model: layer scale, no final norm; the 6B has RMS norms, also of queries and keys over all
 * heads. Source: OpenGVLab/InternVL's modeling_intern_vit.py, configuration_intern_vit.py. */
#include "model/families/family.h"

const heed_family heed_family_internvit = {
    .name = "internvit",
    .types = "intern_vit_6b|internvl_chat",
    .names = &heed_names_internvit,
    .fallback = true,
    .processor = "InternVL",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(LAYER_SCALES) | HEED_GROUP(PATCH_BIAS),
              .norms_tell = true,
              .wide_norms = true,
              .architecture = "internvit",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 3200,
                 .layers = 48,
                 .heads = 25,
                 .mlp_width = 12800,
                 .image_size = 224,
                 .patch = 14,
                 .rms = true,
                 .query_norm = true},
    .keys = {.biases = "qkv_bias",
             .norm = "norm_type",
             .query_norm = "qk_normalization",
             .others = "norm_type|qk_normalization|use_flash_attn"},
};
