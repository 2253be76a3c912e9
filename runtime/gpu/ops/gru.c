/* gru on a GPU: gpu/ops/recurrent.h. */
#include "gpu/ops/recurrent.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  heed_vk_recurrent_build(builder, node, HEED_SHADER_gru);
}

static void check(heed_vk_check_graph *c) {
  heed_recurrent_desc desc = heed_vk_recurrent_check(c, 3);
  desc.reverse = true;
  const heed_recurrent_values values = heed_define_gru(c->graph, &desc);
  heed_vk_check_keep(c, values.y);
  heed_vk_check_keep(c, values.h);
}

const heed_vk_op heed_vk_gru = {.build = build,
                                .check = check,
                                .split_axes = heed_vk_split_batch,
                                .whole = HEED_VK_RECURRENT_WHOLE};
