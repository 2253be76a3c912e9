/* softmax on a GPU: one dispatch, a row by one invocation or shared by several. */
#include "params/softmax.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  const heed_softmax_desc *desc = node->desc;
  const heed_shape *x = heed_vk_shape(builder, desc->x.id);
  heed_vk_dispatch dispatch = {.shader = HEED_SHADER_softmax};
  heed_softmax_params params = {
      .width = x->rank ? x->dim[x->rank - 1] : 1,
      .x_origin = heed_vk_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_vk_write(builder, &dispatch, 1, node->output[0]),
  };
  params.rows = heed_vk_count(builder, desc->x.id) / params.width;
  const heed_vk_rows rows = heed_vk_share_rows(builder, params.rows, params.width);
  if (rows.subgroups) heed_vk_by_subgroups(builder, &dispatch, HEED_SHADER_softmax_subgroup);
  uint32_t groups[2];
  heed_vk_spread(builder, params.rows, rows.width / rows.lanes, groups);
  heed_vk_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_VK_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes);
}

static void check(heed_vk_check_graph *c) {
  const heed_softmax_desc desc = {sizeof desc, c->tokens};
  heed_vk_check_keep(c, heed_define_softmax(c->graph, &desc));
}

const heed_vk_op heed_vk_softmax = {
    .build = build, .check = check, .split_axes = heed_vk_split_rows};
