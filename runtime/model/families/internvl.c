/* InternVL's vision tower in Hugging Face's names: layer scale, no final norm. Source:
 * transformers' modeling_internvl.py, configuration_internvl.py. */
#include "model/families/family.h"

const heed_family heed_family_internvl = {
    .name = "internvl",
    .types = "internvl_vision|internvl",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) | HEED_GROUP(CLASSIFIER),
    .marks = "#attention.projection_layer.weight",
    .processor = "InternVL",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(LAYER_SCALES) | HEED_GROUP(PATCH_BIAS),
              .norms_tell = true,
              .wide_norms = true,
              .architecture = "a guess",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 1024,
                 .layers = 24,
                 .heads = 16,
                 .mlp_width = 4096,
                 .image_size = 448,
                 .patch = 14},
    .keys = {.biases = "attention_bias",
             .norm = "norm_type",
             .query_norm = "use_qk_norm",
             .no_final_norm = "use_mean_pooling",
             .others = "attention_bias|norm_type|use_qk_norm"},
};
