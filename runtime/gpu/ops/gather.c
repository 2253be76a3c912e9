/* gather on a GPU: one dispatch, one element an invocation. */
#include "graph/ops/gather.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/gather.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_gather_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id),
                   *y = heed_gpu_shape(builder, node->output[0]);
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_gather};
  heed_gather_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .entries = x->dim[desc->axis],
      .indices = heed_gpu_count(builder, desc->indices.id),
      .run = 1,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .indices_origin = heed_gpu_read(builder, &dispatch, 1, desc->indices.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]),
      .size = {1, 1, 1, 1, 1, 1},
  };
  for (uint32_t i = desc->axis + 1; i < x->rank; i++) params.run *= x->dim[i];
  uint32_t stride = 1;
  for (uint32_t i = x->rank; i-- > 0 && desc->elements; stride *= x->dim[i]) {
    const uint32_t slot = HEED_MAX_RANK - x->rank + i;
    params.size[slot] = y->dim[i];
    params.stride[slot] = i == desc->axis ? 0 : stride;
  }
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, desc->elements);
}

static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  (void)builder;
  const heed_gather_desc *desc = node->desc;
  return (heed_gpu_split_axes){node->output[0], desc->axis > 0 && !desc->elements, 0};
}

static void check(heed_gpu_check_graph *c) {
  const heed_gather_desc desc = {
      .struct_size = sizeof desc, .x = c->tokens, .indices = c->ids, .axis = 1};
  heed_gpu_check_keep(c, heed_define_gather(c->graph, &desc));
}

const heed_gpu_op heed_gpu_gather = {.build = build,
                                     .check = check,
                                     .split_axes = split_axes,
                                     .whole = 1u << HEED_GATHER_INPUT_INDICES};
