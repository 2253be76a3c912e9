/* Qwen2-VL's vision tower, alone or in the whole model: rotary positions alone, patches of two
 * equal frames, no final norm. Tokens are in raster order here, in that of its merged squares
 * there. Source: transformers' modeling_qwen2_vl.py, configuration_qwen2_vl.py. */
#include "model/families/family.h"

const heed_family heed_family_qwen2_vl = {
    .name = "qwen2_vl",
    .types = "qwen2_vl|qwen2_vl_vision",
    .names = &heed_names_timm,
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(POSITIONS) | HEED_GROUP(GATE) | HEED_GROUP(PATCH_BIAS) |
             HEED_GROUP(FINAL_NORM) | HEED_GROUP(CLASSIFIER),
    .marks = "merger.ln_q.bias",
    .processor = "OwlViT",
    .rules = {.rotation = {.kind = HEED_ROTATION_AXIAL, .base = 10000, .half = true},
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(QKV_BIASES),
              .still = true,
              .architecture = "qwen",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU_QUICK},
    .defaults =
        {.width = 1280, .layers = 32, .heads = 16, .patch = 14, .mlp_ratio = 4, .any_size = true},
    .keys = {.width = "embed_dim",
             .layers = "depth",
             .heads = "num_heads",
             .others = "depth|embed_dim|num_heads|in_channels|in_chans|hidden_size|"
                       "spatial_merge_size|spatial_patch_size|temporal_patch_size"},
};
