/* lstm on a GPU: gpu/ops/recurrent.h. */
#include "gpu/ops/recurrent.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  heed_vk_recurrent_build(builder, node, HEED_SHADER_lstm);
}

static void check(heed_vk_check_graph *c) {
  heed_recurrent_desc desc = heed_vk_recurrent_check(c, 4);
  desc.c = heed_vk_check_constant(c, HEED_SHAPE(HEED_VK_CHECK_BATCH, HEED_VK_CHECK_HIDDEN));
  const heed_recurrent_values values = heed_define_lstm(c->graph, &desc);
  heed_vk_check_keep(c, values.y);
  heed_vk_check_keep(c, values.h);
  heed_vk_check_keep(c, values.c);
}

const heed_vk_op heed_vk_lstm = {.build = build,
                                 .check = check,
                                 .split_axes = heed_vk_split_batch,
                                 .whole = HEED_VK_RECURRENT_WHOLE};
