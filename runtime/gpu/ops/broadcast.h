/* add and multiply on a GPU: one dispatch, one element an invocation. Axes that lie alike in a and
 * b are merged first. */
#ifndef HEED_GPU_OPS_BROADCAST_H
#define HEED_GPU_OPS_BROADCAST_H

#include "base/tensor.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "heed/ops.h"
#include "params/add.h"

/* Fills size and stride from the back; returns the number of merged axes. */
static inline uint32_t heed_gpu_merge_axes(const heed_shape *a, const heed_shape *b,
                                           heed_add_params *params) {
  uint32_t axes = 0, step = 1;
  for (uint32_t i = 0; i < a->rank; i++) {
    const uint32_t size = a->dim[a->rank - 1 - i],
                   other = i < b->rank ? b->dim[b->rank - 1 - i] : 1;
    const uint32_t stride = other == 1 ? 0 : step;
    step *= other;
    if (size == 1) continue;
    const uint32_t last = 6 - axes;
    if (axes && params->stride[last] * params->size[last] == stride &&
        (stride == 0) == (params->stride[last] == 0)) {
      params->size[last] *= size;
      continue;
    }
    axes++;
    params->size[6 - axes] = size;
    params->stride[6 - axes] = stride;
  }
  return axes ? axes : 1;
}

static inline void heed_gpu_broadcast_build(heed_gpu_builder *builder, const heed_node *node,
                                            heed_gpu_shader shader) {
  const heed_add_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = shader};
  heed_add_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .a_origin = heed_gpu_read(builder, &dispatch, 0, desc->a.id),
      .b_origin = heed_gpu_read(builder, &dispatch, 1, desc->b.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]),
      .size = {1, 1, 1, 1, 1, 1},
  };
  const uint32_t axes = heed_gpu_merge_axes(heed_gpu_shape(builder, desc->a.id),
                                            heed_gpu_shape(builder, desc->b.id), &params);
  uint32_t groups[2];
  const uint32_t width = heed_gpu_width(builder);
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, axes);
}

static inline bool heed_gpu_are_alike(const heed_gpu_builder *builder, const heed_add_desc *desc) {
  const heed_graph *graph = builder->plan->graph;
  return heed_shape_equal(&heed_graph_record(graph, desc->a.id)->shape,
                          &heed_graph_record(graph, desc->b.id)->shape);
}

static inline heed_gpu_split_axes heed_gpu_broadcast_split(const heed_gpu_builder *builder,
                                                           const heed_node *node) {
  return heed_gpu_are_alike(builder, node->desc) ? heed_gpu_split_elements(builder, node)
                                                 : heed_gpu_split_batch(builder, node);
}

/* b of fewer axes is repeated along those in front. */
static inline bool heed_gpu_broadcast_is_unsplit(const heed_gpu_builder *builder,
                                                 const heed_node *node, uint32_t value) {
  const heed_graph *graph = builder->plan->graph;
  return heed_graph_record(graph, value)->shape.rank <
         heed_graph_record(graph, node->output[0])->shape.rank;
}

#endif
