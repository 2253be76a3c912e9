/* SwinV2: Swin with cosine attention, a bias that a small network computes of relative positions,
 * and norms behind each part. Source: transformers' modeling_swinv2.py, configuration_swinv2.py. */
#include "model/families/family.h"

const heed_family heed_family_swinv2 = {
    .name = "swinv2",
    .types = "swinv2",
    .inner = "swinv2.",
    .names = &heed_names_swin,
    .has = HEED_GROUP(QUERY_KEY_NORMS),
    .lacks = HEED_GROUP(POSITIONS) | HEED_GROUP(POSITION_BIAS),
    .fallback = true,
    .processor = "ViT",
    .rules = {.made_positions = HEED_POSITIONS_NONE,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM) | HEED_GROUP(PATCH_NORMS) |
                       HEED_GROUP(QUERY_KEY_NORMS),
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .pooled_without_classes = true,
              .staged = true,
              .norm_inside = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 96,
                 .image_size = 224,
                 .patch = 4,
                 .mlp_ratio = 4,
                 .stage_window = 7,
                 .biased = true},
    .keys = {.width = "embed_dim",
             .biases = "qkv_bias",
             .others = "embed_dim|depths|num_heads|num_layers|window_size|use_absolute_embeddings|"
                       "encoder_stride|pretrained_window_sizes|path_norm|hidden_size"},
};
