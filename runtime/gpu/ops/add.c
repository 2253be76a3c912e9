/* add on a GPU: gpu/ops/broadcast.h. */
#include "gpu/ops/broadcast.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  heed_vk_broadcast_build(builder, node, HEED_SHADER_add);
}

static void check(heed_vk_check_graph *c) {
  const heed_add_desc desc = {
      sizeof desc, c->tokens,
      heed_vk_check_constant(c, HEED_SHAPE(1, HEED_VK_CHECK_LENGTH, HEED_VK_CHECK_ODD))};
  heed_vk_check_keep(c, heed_define_add(c->graph, &desc));
}

const heed_vk_op heed_vk_add = {.build = build,
                                .check = check,
                                .split_axes = heed_vk_broadcast_split,
                                .is_unsplit = heed_vk_broadcast_is_unsplit};
