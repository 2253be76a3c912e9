/* The vision tower of Qwen3-VL and Qwen3.5, alone or in the whole model: learned and rotary
 * positions, patches of two equal frames, no final norm. Source: transformers'
 * modeling_qwen3_vl.py, configuration_qwen3_vl.py. */
#include "model/families/family.h"

const heed_family heed_family_qwen3_vl = {
    .name = "qwen3_vl",
    .types = "qwen3_vl|qwen3_vl_vision|qwen3_vl_moe|qwen3_vl_moe_vision|qwen3_5|qwen3_5_vision|"
             "qwen3_5_moe|qwen3_5_moe_vision",
    .names = &heed_names_timm,
    .has = HEED_GROUP(POSITIONS),
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(GATE) | HEED_GROUP(FINAL_NORM) | HEED_GROUP(CLASSIFIER),
    .marks = "merger.linear_fc1.weight|#mlp.linear_fc1.weight",
    .processor = "OwlViT",
    .rules = {.positions = &heed_positions_linear_corners,
              .rotation = {.kind = HEED_ROTATION_AXIAL, .base = 10000, .half = true},
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(QKV_BIASES) | HEED_GROUP(PATCH_BIAS),
              .still = true,
              .architecture = "qwen",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU_TANH},
    .defaults = {.width = 1152,
                 .layers = 27,
                 .heads = 16,
                 .mlp_width = 4304,
                 .patch = 16,
                 .any_size = true},
    .keys = {.layers = "depth",
             .heads = "num_heads",
             .others = "depth|num_heads|in_channels|in_chans|spatial_merge_size|"
                       "temporal_patch_size|out_hidden_size|num_position_embeddings|"
                       "deepstack_visual_indexes"},
};
