/* Qwen2.5-VL's vision tower, alone or in the whole model: Qwen2-VL's with RMS norms, a gate, and
 * windows in all layers but some. Source: transformers' modeling_qwen2_5_vl.py,
 * configuration_qwen2_5_vl.py. */
#include "model/families/family.h"

const heed_family heed_family_qwen2_5_vl = {
    .name = "qwen2_5_vl",
    .types = "qwen2_5_vl|qwen2_5_vl_vision|qwen2_5_omni_vision_encoder",
    .names = &heed_names_timm,
    .has = HEED_GROUP(GATE),
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(POSITIONS) | HEED_GROUP(PATCH_BIAS) |
             HEED_GROUP(FINAL_NORM) | HEED_GROUP(CLASSIFIER),
    .marks = "merger.ln_q.weight",
    .processor = "OwlViT",
    .rules = {.rotation = {.kind = HEED_ROTATION_AXIAL, .base = 10000, .half = true},
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(QKV_BIASES) | HEED_GROUP(GATE),
              .rms = true,
              .still = true,
              .gate_activation = true,
              .architecture = "qwen",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_SILU},
    .defaults = {.width = 3584,
                 .layers = 32,
                 .heads = 16,
                 .mlp_width = 3420,
                 .patch = 14,
                 .window = 112,
                 .merge = 2,
                 .full_layers = {7, 15, 23, 31},
                 .any_size = true},
    .keys = {.layers = "depth",
             .heads = "num_heads",
             .others = "depth|num_heads|in_channels|in_chans|spatial_merge_size|"
                       "spatial_patch_size|temporal_patch_size|tokens_per_second|window_size|"
                       "fullatt_block_indexes|out_hidden_size"},
};
