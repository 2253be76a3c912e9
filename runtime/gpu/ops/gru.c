/* gru on a GPU: gpu/ops/recurrent.h. */
#include "gpu/ops/recurrent.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  heed_vk_recurrent_build(builder, node, HEED_SHADER_gru);
}

const heed_vk_op heed_vk_gru = {"gru", build, heed_vk_split_batch, heed_vk_recurrent_is_unsplit};
