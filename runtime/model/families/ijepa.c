/* I-JEPA: no CLS, and a classifier on the mean of the patches. Source: transformers'
 * modeling_ijepa.py, configuration_ijepa.py. */
#include "model/families/family.h"

const heed_family heed_family_ijepa = {
    .name = "ijepa",
    .types = "ijepa",
    .names = &heed_names_hugging_face,
    .anchor = "layernorm_before",
    .inner = "ijepa.",
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(DISTILLATION) | HEED_GROUP(REGISTERS) |
             HEED_GROUP(LAYER_SCALES),
    .fallback = true,
    .assumption = "I-JEPA's rules, as there is no CLS",
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(FINAL_NORM),
              .epsilon = 1e-12f,
              .activation = HEED_ACTIVATION_GELU},
};
