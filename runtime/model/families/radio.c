/* RADIO and C-RADIO: timm's blocks behind a linear map of patches, several CLS tokens and registers
 * in one tensor, pixels that the model normalises itself, and no final norm unless it is stored.
 * Sources: NVlabs/RADIO's radio_model.py, vit_patch_generator.py, cls_token.py and
 * input_conditioner.py. */
#include "model/families/family.h"

const heed_family heed_family_radio = {
    .name = "radio",
    .names = &heed_names_timm,
    .inner = "radio_model.model.",
    .marks = "patch_generator.embedder.weight",
    .lacks = HEED_GROUP(CLS) | HEED_GROUP(DISTILLATION) | HEED_GROUP(PROBE),
    .processor = "RADIO",
    .rules = {.positions = &heed_positions_cut,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .pool = HEED_POOL_PATCHES,
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(REGISTERS) | HEED_GROUP(POSITIONS),
              .flat_patches = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_GELU},
};
