/* BEiT and BEiT-2: a bias by relative position in each layer, or one for all, keys without a bias,
 * and a mean of the patches with a norm behind it; the final states have none. Source:
 * transformers' modeling_beit.py, configuration_beit.py. */
#include "model/families/family.h"

const heed_family heed_family_beit = {
    .name = "beit",
    .types = "beit",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "beit.",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS),
    .marks = "pooler.layernorm.weight",
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
