/* activation on a GPU: one dispatch, four elements an invocation. */
#include "params/activation.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  const heed_activation_desc *desc = node->desc;
  heed_vk_dispatch dispatch = {.shader = HEED_SHADER_activation};
  const heed_activation_params params = {
      .count = heed_vk_count(builder, node->output[0]),
      .x_origin = heed_vk_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_vk_write(builder, &dispatch, 1, node->output[0]),
  };
  uint32_t groups[2];
  const uint32_t width = heed_vk_width(builder);
  heed_vk_spread(builder, params.count, width * 4, groups);
  HEED_VK_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                   (uint32_t)desc->kind);
}

static void check(heed_vk_check_graph *c) {
  const heed_activation_desc desc = {sizeof desc, c->tokens, HEED_ACTIVATION_TANH};
  heed_vk_check_keep(c, heed_define_activation(c->graph, &desc));
}

const heed_vk_op heed_vk_activation = {
    .build = build, .check = check, .split_axes = heed_vk_split_elements};
