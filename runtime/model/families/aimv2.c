/* AIMv2 in Hugging Face's names and in Apple's: RMS norms, also of the patches, a gate, no CLS, no
 * biases but that of the patches. Source: transformers' modeling_aimv2.py, configuration_aimv2.py;
 * apple/ml-aim's aim-v2. */
#include "model/families/family.h"

const heed_family heed_family_aimv2 = {
    .name = "aimv2",
    .types = "aimv2|aimv2_vision_model",
    .names = &heed_names_aimv2,
    .fallback = true,
    .processor = "CLIP",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PATCH_BIAS) | HEED_GROUP(PATCH_NORMS) |
                       HEED_GROUP(GATE) | HEED_GROUP(FINAL_NORM),
              .rms = true,
              .unbiased = true,
              .gate_activation = true,
              .architecture = "aimv2_",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_SILU},
    .defaults = {.width = 1024,
                 .layers = 24,
                 .heads = 8,
                 .mlp_width = 2816,
                 .image_size = 224,
                 .patch = 14},
    .keys = {.epsilon = "rms_norm_eps",
             .biases = "qkv_bias",
             .others = "rms_norm_eps|use_bias|use_head|is_native"},
};
