/* ViTs around torch's nn.TransformerEncoder, whose own defaults are ReLU and a norm after each
 * part. Source: torch's nn/modules/transformer.py. */
#include "model/families/family.h"

const heed_family heed_family_torch_encoder = {
    .name = "torch_encoder",
    .names = &heed_names_own,
    .marks = "#linear1.weight",
    .assumption = "rules of nn.TransformerEncoder",
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .epsilon = 1e-5f,
              .head_activation = HEED_ACTIVATION_RELU,
              .activation = HEED_ACTIVATION_RELU},
};
