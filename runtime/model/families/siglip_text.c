/* SigLIP's text tower, and that of SigLIP 2 of fixed size: without a causal mask, the state of the
 * last token, which is padding in most texts. Source: transformers' modeling_siglip.py,
 * configuration_siglip.py. */
#include "model/families/family.h"

const heed_family heed_family_siglip_text = {
    .name = "siglip",
    .types = "siglip|siglip_text_model",
    .names = &heed_names_hugging_face_text,
    .tower = HEED_TOWER_TEXT,
    .marks = "head.weight",
    .rules = {.pool = HEED_POOL_LAST, .epsilon = 1e-6f, .activation = HEED_ACTIVATION_GELU_TANH},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .positions = 64,
                 .vocabulary = 32000},
};
