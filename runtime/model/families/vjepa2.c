/* V-JEPA 2's encoder: tokens are patches of two frames, and queries and keys are turned by time,
 * row and column; no positions are added. Source: transformers' modeling_vjepa2.py,
 * configuration_vjepa2.py. */
#include "model/families/family.h"

const heed_family heed_family_vjepa2 = {
    .name = "vjepa2",
    .types = "vjepa2",
    .names = &heed_names_hugging_face,
    .anchor = "norm1",
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) |
             HEED_GROUP(POSITIONS) | HEED_GROUP(LAYER_SCALES),
    .marks = "embeddings.patch_embeddings.proj.weight:5",
    .processor = "torchvision",
    .rules = {.made_positions = HEED_POSITIONS_NONE,
              .pool = HEED_POOL_PATCHES,
              .rotation = {.kind = HEED_ROTATION_VIDEO, .base = 10000},
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(FINAL_NORM),
              .video = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 1024,
                 .layers = 24,
                 .heads = 16,
                 .image_size = 256,
                 .patch = 16,
                 .mlp_ratio = 4,
                 .frames = 64,
                 .tubelet = 2},
    .keys = {.image_size = "crop_size",
             .channels = "in_chans",
             .frames = "frames_per_clip",
             .others = "crop_size|in_chans|frames_per_clip|tubelet_size|num_pooler_layers|"
                       "pred_hidden_size|pred_num_attention_heads|pred_num_hidden_layers|"
                       "pred_num_mask_tokens|pred_zero_init_mask_tokens|pred_mlp_ratio"},
};
