/* CLIP's vision tower in the names of OpenAI and open_clip. OpenAI's models have quick GELU;
 * open_clip_config.json tells of the others. Sources: openai/CLIP's model.py; open_clip's
 * transformer.py and pos_embed.py. */
#include "model/families/family.h"

const heed_family heed_family_open_clip = {
    .name = "open_clip",
    .types = "open_clip",
    .names = &heed_names_open_clip,
    .inner = "visual.",
    .inner_shared = true,
    .lacks = HEED_GROUP(PROBE),
    .fallback = true,
    .processor = "CLIP",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_CLS,
              .norm_pooled = true,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(PRE_NORM) | HEED_GROUP(FINAL_NORM),
              .architecture = "clip",
              .epsilon = 1e-5f,
              .exact_layers = 32,
              .exact_width = 1280,
              .activation = HEED_ACTIVATION_GELU_QUICK},
};
