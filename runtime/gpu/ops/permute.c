/* permute on a GPU: one dispatch, one element an invocation. Axes that stay neighbours are merged
 * first. */
#include "params/permute.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

/* Fills size and stride from the back; returns the number of merged axes. */
static uint32_t merge_axes(const heed_shape *x, const uint32_t *order,
                           heed_permute_params *params) {
  uint32_t strides[HEED_MAX_RANK], step = 1, axes = 0;
  for (uint32_t i = x->rank; i-- > 0; step *= x->dim[i]) strides[i] = step;
  for (uint32_t i = x->rank; i-- > 0;) {
    const uint32_t size = x->dim[order[i]], stride = strides[order[i]], last = 6 - axes;
    if (size == 1) continue;
    if (axes && params->stride[last] * params->size[last] == stride) {
      params->size[last] *= size;
      continue;
    }
    axes++;
    params->size[6 - axes] = size;
    params->stride[6 - axes] = stride;
  }
  return axes ? axes : 1;
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_permute_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_permute};
  heed_permute_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
      .size = {1, 1, 1, 1, 1, 1},
  };
  const uint32_t axes = merge_axes(heed_gpu_shape(builder, desc->x.id), desc->order, &params),
                 width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, axes);
}

static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  (void)builder;
  return (heed_gpu_split_axes){node->output[0],
                               ((const heed_permute_desc *)node->desc)->order[0] == 0, 0};
}

static void check(heed_gpu_check_graph *c) {
  const heed_permute_desc desc = {sizeof desc, c->tokens, {0, 2, 1}};
  heed_gpu_check_keep(c, heed_define_permute(c->graph, &desc));
}

const heed_gpu_op heed_gpu_permute = {.build = build, .check = check, .split_axes = split_axes};
