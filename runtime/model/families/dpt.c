/* DPT's ViT, of models such as MiDaS: ViT's rules but for positions of another grid. Source:
 * transformers' modeling_dpt.py, configuration_dpt.py. */
#include "model/families/family.h"

const heed_family heed_family_dpt = {
    .name = "dpt",
    .types = "dpt",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "dpt.",
    .lacks = HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) | HEED_GROUP(LAYER_SCALES),
    .processor = "ViT",
    .rules = {.positions = &heed_positions_linear,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-12f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 384,
                 .patch = 16},
};
