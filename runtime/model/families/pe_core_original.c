/* The Perception Encoder's core towers in their authors' own files, whose names are open_clip's: as
 * those of timm, but stored positions are resized linearly, rotary ones are not scaled, and the
 * pooled state is projected. Source: facebookresearch/perception_models' pe.py, rope.py. */
#include "model/families/family.h"

const heed_family heed_family_pe_core_original = {
    .name = "pe_core (original)",
    .names = &heed_names_open_clip,
    .marks = "attn_pool.probe",
    .processor = "ViT",
    .rules = {.positions = &heed_positions_linear,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation =
                  {.kind = HEED_ROTATION_AXIAL, .base = 10000, .offset = 1, .columns_first = true},
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM) | HEED_GROUP(FINAL_NORM) |
                       HEED_GROUP(PROJECTION),
              .pool_heads = 8,
              .architecture = "vit_pe_",
              .probe_reads_all = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
};
