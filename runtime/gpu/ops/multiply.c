/* multiply on a GPU: gpu/ops/broadcast.h. */
#include "gpu/ops/broadcast.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  heed_vk_broadcast_build(builder, node, HEED_SHADER_multiply);
}

static void check(heed_vk_check_graph *c) {
  const heed_multiply_desc desc = {sizeof desc, c->tokens,
                                   heed_vk_check_constant(c, HEED_SHAPE(HEED_VK_CHECK_ODD))};
  heed_vk_check_keep(c, heed_define_multiply(c->graph, &desc));
}

const heed_vk_op heed_vk_multiply = {.build = build,
                                     .check = check,
                                     .split_axes = heed_vk_broadcast_split,
                                     .is_unsplit = heed_vk_broadcast_is_unsplit};
