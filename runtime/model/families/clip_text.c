/* CLIP's text tower in Hugging Face's names: the state of the token that ends the text, projected.
 * Source: transformers' modeling_clip.py, configuration_clip.py. */
#include "model/families/family.h"

const heed_family heed_family_clip_text = {
    .name = "clip",
    .types = "clip|clip_text_model",
    .names = &heed_names_hugging_face_text,
    .tower = HEED_TOWER_TEXT,
    .inner = "text_model.",
    .fallback = true,
    .rules = {.pool = HEED_POOL_END,
              .architecture = "clip",
              .epsilon = 1e-5f,
              .exact_layers = 24,
              .exact_width = 1280,
              .activation = HEED_ACTIVATION_GELU_QUICK,
              .causal = true},
    .defaults = {.width = 512,
                 .layers = 12,
                 .heads = 8,
                 .mlp_width = 2048,
                 .positions = 77,
                 .vocabulary = 49408,
                 .end = 49407},
};
