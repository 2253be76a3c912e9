/* CLIP's vision tower in Hugging Face's names, also that of MetaCLIP 2, CLIPSeg, OWL-ViT and
 * Chinese CLIP; alone, beside the text tower or inside a larger model. The final norm is for CLS
 * alone; CLIPForImageClassification takes the mean of the patches without it. Source: transformers'
 * modeling_clip.py, configuration_clip.py. */
#include "model/families/family.h"

const heed_family heed_family_clip = {
    .name = "clip",
    .types = "clip|clip_vision_model|clipseg|clipseg_vision_model|owlvit|owlvit_vision_model|owlv2|"
             "owlv2_vision_model|chinese_clip|chinese_clip_vision_model|metaclip_2|metaclip_2_"
             "vision_model",
    .names = &heed_names_hugging_face_clip,
    .inner = "vision_model.",
    .inner_shared = true,
    .fallback = true,
    .processor = "CLIP",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .pool = HEED_POOL_PATCHES,
              .norm_pooled = true,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(PRE_NORM),
              .architecture = "clip",
              .epsilon = 1e-5f,
              .exact_layers = 32,
              .exact_width = 1280,
              .activation = HEED_ACTIVATION_GELU_QUICK},
    .typed = (const heed_config_defaults[]){{.types = "owlvit|owlvit_vision_model",
                                             .width = 768,
                                             .layers = 12,
                                             .heads = 12,
                                             .mlp_width = 3072,
                                             .image_size = 768,
                                             .patch = 32},
                                            {.types = "owlv2|owlv2_vision_model",
                                             .width = 768,
                                             .layers = 12,
                                             .heads = 12,
                                             .mlp_width = 3072,
                                             .image_size = 768,
                                             .patch = 16},
                                            {0}},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 224,
                 .patch = 32},
};
