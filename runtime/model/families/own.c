/* ViTs that people write themselves, of blocks as the ViT's paper has them. What their weights do
 * not tell is guessed as most of them are, and said. */
#include "model/families/family.h"

const heed_family heed_family_own = {
    .name = "own",
    .names = &heed_names_own,
    .fallback = true,
    .assumption = "rules of most ViTs that people write themselves",
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .epsilon = 1e-5f,
              .own_width = true,
              .head_activation = HEED_ACTIVATION_RELU,
              .activation = HEED_ACTIVATION_GELU},
};
