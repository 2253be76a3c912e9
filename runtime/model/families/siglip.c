/* SigLIP's vision tower, and SigLIP2's of a fixed size, alone, beside the text tower or inside a
 * larger model: no CLS, all tokens normed, and a pooling attention where the model has its head.
 * SiglipForImageClassification takes the mean of the tokens. Source: transformers'
 * modeling_siglip.py, configuration_siglip.py. */
#include "model/families/family.h"

const heed_family heed_family_siglip = {
    .name = "siglip",
    .types = "siglip|siglip_vision_model",
    .names = &heed_names_hugging_face_clip,
    .inner = "vision_model.",
    .inner_shared = true,
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(PRE_NORM),
    .fallback = true,
    .marks = "head.probe",
    .excludes = "embeddings.patch_embedding.weight:2",
    .assumption = "SigLIP's rules, as there is no CLS (files of Idefics have the same names)",
    .head = true,
    .processor = "Siglip",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS),
              .architecture = "siglip",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU_TANH},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 224,
                 .patch = 16},
};
