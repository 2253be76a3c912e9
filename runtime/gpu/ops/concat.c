/* concat on a GPU: one dispatch an input, each a copy into its columns of the result. */
#include "params/concat.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

/* Product of dimensions [from, to). */
static uint32_t product(const heed_shape *shape, uint32_t from, uint32_t to) {
  uint32_t n = 1;
  for (uint32_t i = from; i < to; i++) n *= shape->dim[i];
  return n;
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_concat_desc *desc = node->desc;
  const heed_shape *y = heed_gpu_shape(builder, node->output[0]);
  uint32_t first = 0;
  for (uint32_t i = 0; i < desc->count; i++) {
    const heed_shape *x = heed_gpu_shape(builder, desc->x[i].id);
    heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_concat};
    heed_concat_params params = {
        .x_outer = product(x, 0, desc->axis),
        .x_row = product(x, desc->axis, x->rank),
        .y_row = product(y, desc->axis, y->rank),
        .y_first = first,
        .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x[i].id),
        .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
    };
    params.count = product(y, 0, desc->axis) * params.x_row;
    first += params.x_row;
    uint32_t groups[2];
    const uint32_t width = heed_gpu_width(builder);
    heed_gpu_spread(builder, params.count, width, groups);
    HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width);
  }
}

static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  (void)builder;
  return (heed_gpu_split_axes){node->output[0], ((const heed_concat_desc *)node->desc)->axis, 0};
}

static void check(heed_gpu_check_graph *c) {
  const heed_concat_desc desc = {
      sizeof desc,
      {heed_gpu_check_constant(c, HEED_SHAPE(1, 1, HEED_GPU_CHECK_ODD)), c->tokens},
      2,
      1};
  heed_gpu_check_keep(c, heed_define_concat(c->graph, &desc));
}

const heed_gpu_op heed_gpu_concat = {.build = build, .check = check, .split_axes = split_axes};
