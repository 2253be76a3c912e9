/* torchvision's ViT. Its positions are resized as its interpolate_embeddings does it, corners
 * aligned. Source: torchvision's models/vision_transformer.py. */
#include "model/families/family.h"

const heed_family heed_family_torchvision = {
    .name = "torchvision",
    .types = "",
    .names = &heed_names_torchvision,
    .fallback = true,
    .processor = "torchvision",
    .rules = {.positions = &heed_positions_corners,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .needs = HEED_GROUP(CLS),
              .architecture = "torchvision",
              .epsilon = 1e-6f,
              .head_activation = HEED_ACTIVATION_TANH,
              .activation = HEED_ACTIVATION_GELU},
};
