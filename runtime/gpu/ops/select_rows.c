/* select_rows on a GPU: one dispatch that copies. */
#include "params/select_rows.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_select_rows_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id); /* [B, T, C] */
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_select_rows};
  const heed_select_rows_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .x_row = x->dim[1] * x->dim[2],
      .y_row = desc->count * x->dim[2],
      .x_first = desc->first * x->dim[2],
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
  };
  uint32_t groups[2];
  const uint32_t width = heed_gpu_width(builder);
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width);
}

static void check(heed_gpu_check_graph *c) {
  const heed_select_rows_desc desc = {sizeof desc, c->tokens, 3, 5};
  heed_gpu_check_keep(c, heed_define_select_rows(c->graph, &desc));
}

const heed_gpu_op heed_gpu_select_rows = {
    .build = build, .check = check, .split_axes = heed_gpu_split_batch};
