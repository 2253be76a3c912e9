/* BLIP's vision tower: the final norm is for all tokens, and once more for the pooled CLS. Source:
 * transformers' modeling_blip.py, configuration_blip.py. */
#include "model/families/family.h"

const heed_family heed_family_blip = {
    .name = "blip",
    .types = "blip|blip_vision_model",
    .names = &heed_names_hugging_face_clip,
    .inner = "vision_model.",
    .inner_shared = true,
    .hints = "#self_attn.qkv.weight",
    .assumption = "BLIP's rules (files of BLIP-2 have the same names)",
    .lacks = HEED_GROUP(PRE_NORM) | HEED_GROUP(PROBE),
    .processor = "Blip",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .norm_pooled = true,
              .norm_twice = true,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(PATCH_BIAS),
              .architecture = "clip",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 384,
                 .patch = 16},
};
