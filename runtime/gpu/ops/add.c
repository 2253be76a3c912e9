/* add on a GPU: gpu/ops/broadcast.h. */
#include "gpu/ops/broadcast.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  heed_vk_broadcast_build(builder, node, HEED_SHADER_add);
}

const heed_vk_op heed_vk_add = {"add", build, heed_vk_broadcast_split,
                                heed_vk_broadcast_is_unsplit};
