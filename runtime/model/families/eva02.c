/* EVA-02 in timm's names, and its original files: learned and rotary positions, a gated MLP. The
 * rotation counts patches on the 16 x 16 grid of pretraining. Source: timm's eva.py. */
#include "model/families/family.h"

const heed_family heed_family_eva02 = {
    .name = "eva02",
    .architectures = "eva02_*",
    .names = &heed_names_timm,
    .marks = "rope.freqs_cos|#attn.rope.freqs_cos",
    .hints = "#attn.q_bias|#attn.q_proj.weight",
    .assumption = "EVA-02's rules, as there is a gate",
    .has = HEED_GROUP(POSITIONS) | HEED_GROUP(GATE),
    .processor = "CLIP",
    .rules = {.positions = &heed_positions_antialiased,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .rotation = {.kind = HEED_ROTATION_AXIAL, .base = 10000, .reference = 16},
              .key_bias = HEED_KEY_BIAS_OPTIONAL,
              .needs = HEED_GROUP(CLS) | HEED_GROUP(POSITIONS) | HEED_GROUP(PATCH_BIAS) |
                       HEED_GROUP(GATE) | HEED_GROUP(FINAL_NORM),
              .architecture = "eva02_",
              .probe_reads_all = true,
              .epsilon = 1e-6f,
              .activation = HEED_ACTIVATION_SILU},
};
