/* data2vec-vision: BEiT's rules. Source: transformers' modeling_data2vec_vision.py. */
#include "model/families/family.h"

const heed_family heed_family_data2vec = {
    .name = "data2vec",
    .types = "data2vec-vision",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "data2vec_vision.",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS),
    .processor = "Beit",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(CLS),
              .bias_positions = &heed_positions_linear,
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .pools = true,
              .architecture = "beit",
              .epsilon = 1e-12f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 224,
                 .patch = 16},
};
