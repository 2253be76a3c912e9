/* The vision towers of Idefics 2 and 3 and of SmolVLM: SigLIP without its head; positions of
 * another grid are those of the nearest patch before. Source: transformers' modeling_idefics3.py,
 * configuration_idefics3.py. */
#include "model/families/family.h"

const heed_family heed_family_idefics = {
    .name = "idefics",
    .types = "idefics2|idefics2_vision|idefics3|idefics3_vision|smolvlm|smolvlm_vision",
    .names = &heed_names_hugging_face_clip,
    .inner = "vision_model.",
    .inner_shared = true,
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(PRE_NORM) | HEED_GROUP(PROBE),
    .processor = "Siglip",
    .rules = {.positions = &heed_positions_nearest,
              .position_tokens = HEED_POSITION_TOKENS_ALL,
              .pool = HEED_POOL_PATCHES,
              .needs = HEED_GROUP(PATCH_BIAS),
              .architecture = "siglip",
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU_TANH},
};
