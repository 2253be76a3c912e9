/* The text tower beside the Perception Encoder's core in its authors' own files: that of open_clip,
 * with exact GELU in every size. Source: facebookresearch/perception_models' pe.py. */
#include "model/families/family.h"

const heed_family heed_family_pe_text = {
    .name = "pe_core (original)",
    .names = &heed_names_open_clip_text,
    .tower = HEED_TOWER_TEXT,
    .marks = "visual.attn_pool.probe",
    .rules = {.pool = HEED_POOL_END,
              .architecture = "vit_pe_",
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU,
              .causal = true},
};
