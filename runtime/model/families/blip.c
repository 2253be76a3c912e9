/* The vision towers of BLIP, BLIP-2 and InstructBLIP: the final norm is for all tokens, and once
 * more for the pooled CLS. Source: transformers' modeling_blip.py, modeling_blip_2.py and their
 * configurations. */
#include "model/families/family.h"

#define BLIP_2                                                                \
  "blip-2|blip_2|blip_2_vision_model|instructblip|instructblip_vision_model|" \
  "instructblipvideo|instructblipvideo_vision_model"

const heed_family heed_family_blip = {
    .name = "blip",
    .types = "blip|blip_vision_model|" BLIP_2,
    .names = &heed_names_hugging_face_clip,
    .inner = "vision_model.",
    .inner_shared = true,
    .hints = "#self_attn.qkv.weight",
    .assumption = "BLIP's rules (files of BLIP-2 have the same names and epsilon 1e-6)",
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
    .typed = (const heed_config_defaults[]){{.types = BLIP_2,
                                             .width = 1408,
                                             .layers = 39,
                                             .heads = 16,
                                             .mlp_width = 6144,
                                             .image_size = 224,
                                             .patch = 14,
                                             .epsilon = 1e-6f},
                                            {0}},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 384,
                 .patch = 16},
};
