/* CLIP's text tower in the names of OpenAI and open_clip. OpenAI's models have quick GELU;
 * open_clip_config.json tells of the others. Sources: openai/CLIP's model.py; open_clip's
 * transformer.py. */
#include "model/families/family.h"

const heed_family heed_family_open_clip_text = {
    .name = "open_clip",
    .types = "open_clip",
    .names = &heed_names_open_clip_text,
    .tower = HEED_TOWER_TEXT,
    .inner = "text.",
    .fallback = true,
    .rules = {.pool = HEED_POOL_END,
              .architecture = "clip",
              .epsilon = 1e-5f,
              .exact_layers = 24,
              .exact_width = 1280,
              .activation = HEED_ACTIVATION_GELU_QUICK,
              .causal = true},
};
