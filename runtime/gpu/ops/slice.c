/* slice on a GPU: one dispatch, one element an invocation. */
#include "graph/ops/slice.h"
#include <string.h>

#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/slice.h"

static uint32_t value_of(const heed_gpu_builder *builder, const heed_slice_desc *desc) {
  const int32_t whole = (int32_t)desc->value;
  uint32_t word;
  if (heed_graph_record(builder->plan->graph, desc->x.id)->dtype == HEED_I32)
    return (uint32_t)whole;
  memcpy(&word, &desc->value, sizeof word);
  return word;
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_slice_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id),
                   *y = heed_gpu_shape(builder, node->output[0]);
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_slice};
  heed_slice_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .value = value_of(builder, desc),
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
  };
  uint32_t stride = 1;
  for (uint32_t i = y->rank; i-- > 0; stride *= x->dim[i]) {
    const heed_slice_part part =
        heed_slice_inside(desc->start[i], desc->step[i], x->dim[i], y->dim[i]);
    params.size[i] = y->dim[i];
    params.stride[i] = (uint32_t)desc->step[i] * stride;
    params.from[i] = part.from;
    params.to[i] = part.to;
    params.x_origin += (uint32_t)desc->start[i] * stride;
  }
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, y->rank);
}

/* Along axis 0 where that is whole. */
static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  const heed_slice_desc *desc = node->desc;
  const heed_shape *x = &heed_graph_record(builder->plan->graph, desc->x.id)->shape;
  const bool whole = desc->start[0] == 0 && desc->step[0] == 1 && desc->shape.dim[0] == x->dim[0];
  return (heed_gpu_split_axes){node->output[0], whole, 0};
}

static void check(heed_gpu_check_graph *c) {
  const heed_slice_desc desc = {
      .struct_size = sizeof desc,
      .x = c->tokens,
      .shape = HEED_SHAPE(HEED_GPU_CHECK_BATCH, HEED_GPU_CHECK_LENGTH, HEED_GPU_CHECK_ODD),
      .start = {0, HEED_GPU_CHECK_LENGTH - 1, -2},
      .step = {1, -1, 1},
      .value = 0.5f};
  heed_gpu_check_keep(c, heed_define_slice(c->graph, &desc));
}

const heed_gpu_op heed_gpu_slice = {.build = build, .check = check, .split_axes = split_axes};
