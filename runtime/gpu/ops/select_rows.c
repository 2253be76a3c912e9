/* select_rows on a GPU: one dispatch that copies. */
#include "params/select_rows.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  const heed_select_rows_desc *desc = node->desc;
  const heed_shape *x = heed_vk_shape(builder, desc->x.id); /* [B, T, C] */
  heed_vk_dispatch dispatch = {.shader = HEED_SHADER_select_rows};
  const heed_select_rows_params params = {
      .count = heed_vk_count(builder, node->output[0]),
      .x_row = x->dim[1] * x->dim[2],
      .y_row = desc->count * x->dim[2],
      .x_first = desc->first * x->dim[2],
      .x_origin = heed_vk_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_vk_write(builder, &dispatch, 1, node->output[0]),
  };
  uint32_t groups[2];
  const uint32_t width = heed_vk_width(builder);
  heed_vk_spread(builder, params.count, width, groups);
  HEED_VK_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width);
}

static void check(heed_vk_check_graph *c) {
  const heed_select_rows_desc desc = {sizeof desc, c->tokens, 3, 5};
  heed_vk_check_keep(c, heed_define_select_rows(c->graph, &desc));
}

const heed_vk_op heed_vk_select_rows = {
    .build = build, .check = check, .split_axes = heed_vk_split_batch};
