/* softmax on a GPU, and what it passes back: one dispatch, a row by one invocation or shared by
 * several. */
#include "params/softmax.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/softmax_gradient.h"

static void build_gradient(heed_gpu_builder *builder, const heed_node *node) {
  const heed_softmax_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id);
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_softmax_gradient};
  heed_softmax_gradient_params params = {
      .width = x->dim[x->rank - 1],
      .factor = desc->factor,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .g_origin = heed_gpu_read(builder, &dispatch, 1, desc->gradient.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]),
  };
  params.rows = heed_gpu_count(builder, desc->x.id) / params.width;
  const heed_gpu_rows rows = heed_gpu_share_rows(builder, params.rows, params.width);
  if (rows.subgroups)
    heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_softmax_gradient_subgroup);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.rows, rows.width / rows.lanes, groups);
  heed_gpu_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes);
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_softmax_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id);
  if (desc->gradient.id) {
    build_gradient(builder, node);
    return;
  }
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_softmax};
  heed_softmax_params params = {
      .width = x->rank ? x->dim[x->rank - 1] : 1,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
  };
  params.rows = heed_gpu_count(builder, desc->x.id) / params.width;
  const heed_gpu_rows rows = heed_gpu_share_rows(builder, params.rows, params.width);
  if (rows.subgroups) heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_softmax_subgroup);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.rows, rows.width / rows.lanes, groups);
  heed_gpu_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes);
}

static void check(heed_gpu_check_graph *c) {
  heed_softmax_desc desc = {.struct_size = sizeof desc, .x = c->tokens};
  heed_gpu_check_keep(c, heed_define_softmax(c->graph, &desc));
  desc.gradient = c->tokens;
  desc.factor = 0.5f;
  heed_gpu_check_keep(c, heed_define_softmax(c->graph, &desc));
}

const heed_gpu_op heed_gpu_softmax = {
    .build = build, .check = check, .split_axes = heed_gpu_split_rows};
