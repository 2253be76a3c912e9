/* Swin: attention in windows that every second block shifts, a bias by relative position in each of
 * them, stages with grids of their own, and the mean of the tokens. Source: transformers'
 * modeling_swin.py, configuration_swin.py. */
#include "model/families/family.h"

const heed_family heed_family_swin = {
    .name = "swin",
    .types = "swin|donut-swin",
    .inner = "swin.",
    .names = &heed_names_swin,
    .has = HEED_GROUP(POSITION_BIAS),
    .lacks = HEED_GROUP(POSITIONS) | HEED_GROUP(QUERY_KEY_NORMS),
    .fallback = true,
    .processor = "ViT",
    .rules = {.made_positions = HEED_POSITIONS_NONE,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM) | HEED_GROUP(PATCH_NORMS) |
                       HEED_GROUP(POSITION_BIAS),
              .pooled_without_classes = true,
              .staged = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 96, .image_size = 224, .patch = 4, .mlp_ratio = 4, .stage_window = 7},
    .keys = {.width = "embed_dim",
             .others = "embed_dim|depths|num_heads|num_layers|window_size|use_absolute_embeddings|"
                       "encoder_stride|pretrained_window_sizes|path_norm|hidden_size"},
};
