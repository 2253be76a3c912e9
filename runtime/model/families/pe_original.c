/* The Perception Encoder's towers for language and dense tasks in their authors' own files: as the
 * core's, without a final norm and without a pooling attention. Source:
 * facebookresearch/perception_models' pe.py, config.py. */
#include "model/families/family.h"

const heed_family heed_family_pe_original = {
    .name = "pe (original)",
    .names = &heed_names_open_clip,
    .hints = "conv1.weight",
    .assumption = "PE's rules, as there is no final norm",
    .has = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM),
    .lacks = HEED_GROUP(FINAL_NORM) | HEED_GROUP(PROBE) | HEED_GROUP(PROJECTION),
    .processor = "ViT",
    .rules = {.positions = &heed_positions_linear,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation =
                  {.kind = HEED_ROTATION_AXIAL, .base = 10000, .offset = 1, .columns_first = true},
              .needs = HEED_GROUP(POSITIONS) | HEED_GROUP(PRE_NORM),
              .architecture = "vit_pe_",
              .probe_reads_all = true,
              .epsilon = 1e-5f,
              .activation = HEED_ACTIVATION_GELU},
};
