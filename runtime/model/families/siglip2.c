/* The vision tower of SigLIP 2 for pictures of any aspect (NaFlex): SigLIP's, with a linear map of
 * patches and positions that are resized to every picture's grid. Source: transformers'
 * modeling_siglip2.py, configuration_siglip2.py, image_processing_siglip2.py. */
#include "model/families/family.h"

const heed_family heed_family_siglip2 = {
    .name = "siglip2",
    .types = "siglip2|siglip2_vision_model",
    .names = &heed_names_hugging_face_clip,
    .inner = "vision_model.",
    .inner_shared = true,
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(PRE_NORM),
    .marks = "embeddings.patch_embedding.weight:2",
    .head = true,
    .processor = "Siglip2",
    .rules = {.positions = &heed_positions_smooth,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS),
              .architecture = "siglip",
              .flat_patches = true,
              .channels_last = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU_TANH},
    .defaults = {.width = 768,
                 .layers = 12,
                 .heads = 12,
                 .mlp_width = 3072,
                 .image_size = 256,
                 .patch = 16,
                 .patches = 256},
};
