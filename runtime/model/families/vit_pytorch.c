/* lucidrains/vit-pytorch, vit.py of 2020 to 2025. Its patches are embedded by a linear map of
 * pixels whose channels lie together (einops: "(p1 p2 c)"); its norms are torch's. */
#include "model/families/family.h"

const heed_family heed_family_vit_pytorch = {
    .name = "vit_pytorch",
    .names = &heed_names_own,
    .marks = "to_patch_embedding.{1,2}.weight|to_patch_embedding.weight|patch_to_embedding.weight|"
             "#0.fn.fn.to_qkv.weight|#0.fn.to_qkv.weight|#0.to_qkv.weight",
    .assumption = "vit-pytorch's rules",
    .processor = "ViT",
    .rules = {.positions = &heed_positions_plain,
              .position_tokens = HEED_POSITION_TOKENS_ANY,
              .epsilon = 1e-5f,
              .own_width = true,
              .channels_last = true,
              .head_activation = HEED_ACTIVATION_GELU,
              .activation = HEED_ACTIVATION_GELU},
};
