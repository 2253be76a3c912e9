/* SAM's image encoder, without its neck: attention in windows but for some layers, whose tables of
 * relative rows and columns tell which, and queries that meet those tables. Source: transformers'
 * modeling_sam.py, configuration_sam.py. */
#include "model/families/family.h"

const heed_family heed_family_sam = {
    .name = "sam",
    .types = "sam|sam_vision_model|sam_hq|sam_hq_vision_model",
    .names = &heed_names_sam,
    .fallback = true,
    .processor = "Sam",
    .rules = {.positions = &heed_positions_antialiased,
              .pool = HEED_POOL_PATCHES,
              .neck = true,
              .needs = HEED_GROUP(PATCH_BIAS) | HEED_GROUP(POSITIONS) | HEED_GROUP(RELATIVE),
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
    .defaults =
        {.width = 768, .layers = 12, .heads = 12, .image_size = 1024, .patch = 16, .mlp_ratio = 4},
    .keys = {.mlp_width = "mlp_dim",
             .others = "mlp_dim|window_size|global_attn_indexes|use_abs_pos|use_rel_pos|"
                       "output_channels|num_pos_feats"},
};
