/* Pixtral's vision tower, which is that of Mistral 3, alone or in the whole model: RMS norms, a
 * gate, no biases, rotary positions alone, no final norm. Source: transformers'
 * modeling_pixtral.py, configuration_pixtral.py. */
#include "model/families/family.h"

const heed_family heed_family_pixtral = {
    .name = "pixtral",
    .types = "pixtral",
    .names = &heed_names_pixtral,
    .fallback = true,
    .processor = "OwlViT",
    .rules =
        {.rotation = {.kind = HEED_ROTATION_AXIAL, .base = 10000, .half = true, .between = true},
         .pool = HEED_POOL_PATCHES,
         .rms = true,
         .unbiased = true,
         .gate_activation = true,
         .architecture = "a guess",
         .epsilon = 1e-5f,
         .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 1024,
                 .layers = 24,
                 .heads = 16,
                 .mlp_width = 4096,
                 .image_size = 1024,
                 .patch = 16},
    .keys = {.others = "head_dim"},
};
