/* VideoMAE: tokens are patches of some frames, one time step after the other, with sines of their
 * numbers as positions; keys have no bias. Its classifier reads the mean of the tokens, and the
 * final states of a model with one have no norm. Source: transformers' modeling_videomae.py,
 * configuration_videomae.py. */
#include "model/families/family.h"

const heed_family heed_family_videomae = {
    .name = "videomae",
    .types = "videomae",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "videomae.",
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) |
             HEED_GROUP(POSITIONS) | HEED_GROUP(LAYER_SCALES) | HEED_GROUP(KEY_BIAS),
    .marks = "embeddings.patch_embeddings.projection.weight:5",
    .processor = "VideoMAE",
    .rules = {.made_positions = HEED_POSITIONS_SINES,
              .pool = HEED_POOL_PATCHES,
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(PATCH_BIAS),
              .classifier_needs = HEED_GROUP(POOL_NORM),
              .video = true,
              .epsilon = 1e-12f,
              .pool_epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 224,
                 .patch = 16,
                 .frames = 16,
                 .tubelet = 2,
                 .biased = true},
    .keys = {.biases = "qkv_bias",
             .no_final_norm = "use_mean_pooling",
             .others = "num_frames|tubelet_size"},
};
