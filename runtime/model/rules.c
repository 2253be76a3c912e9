/* Sources: transformers' modeling_vit.py, modeling_deit.py, modeling_dinov2.py,
 * modeling_dinov2_with_registers.py; timm's vision_transformer.py and pos_embed.py;
 * facebookresearch/dinov2's vision_transformer.py and hub/backbones.py. */
#include "model/rules.h"

static const heed_position_rule plain = {.text = "bicubic"};
static const heed_position_rule offset = {
    .offset = 0.1, .text = "bicubic, with 0.1 patches added to the size for the scale"};
static const heed_position_rule antialiased = {.antialias = true, .text = "bicubic, antialiased"};

static const heed_rules families[HEED_FAMILY_COUNT] = {
    [HEED_FAMILY_VIT] = {"vit", &plain, HEED_POSITION_TOKENS_ALL, false, false, 1e-12f, "ViT"},
    [HEED_FAMILY_DEIT] = {"deit", &plain, HEED_POSITION_TOKENS_ALL, false, false, 1e-12f, "DeiT"},
    [HEED_FAMILY_DINOV2] = {"dinov2", &plain, HEED_POSITION_TOKENS_CLS, true, true, 1e-6f,
                            "Dinov2"},
    [HEED_FAMILY_DINOV2_REGISTERS] = {"dinov2_with_registers", &antialiased,
                                      HEED_POSITION_TOKENS_CLS, true, true, 1e-6f, "Dinov2"},
    [HEED_FAMILY_DINOV2_ORIGINAL] = {"dinov2 (original)", &offset, HEED_POSITION_TOKENS_CLS, false,
                                     false, 1e-6f, "Dinov2"},
    [HEED_FAMILY_DINOV2_ORIGINAL_REGISTERS] = {"dinov2_with_registers (original)", &antialiased,
                                               HEED_POSITION_TOKENS_CLS, false, false, 1e-6f,
                                               "Dinov2"},
    [HEED_FAMILY_TIMM] = {"timm", &antialiased, HEED_POSITION_TOKENS_ANY, false, false, 1e-6f,
                          "ViT"},
};

const heed_rules *heed_family_rules(heed_family family) { return &families[family]; }
