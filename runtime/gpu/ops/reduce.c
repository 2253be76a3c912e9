/* reduce on a GPU: one dispatch, a result an invocation. Axes that stay neighbours are merged. */
#include "graph/ops/reduce.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/reduce.h"

enum { LISTED = HEED_MAX_RANK / 2 }; /* at most, of kept axes and of reduced ones */

/* Fills size and stride from the back. */
static void list_axis(uint32_t *size, uint32_t *stride, uint32_t *count, uint32_t length,
                      uint32_t step) {
  const uint32_t last = LISTED - *count;
  if (*count && stride[last] * size[last] == step) {
    size[last] *= length;
    return;
  }
  size[last - 1] = length;
  stride[last - 1] = step;
  ++*count;
}

static void list_axes(const heed_shape *x, uint32_t axes, heed_reduce_params *params) {
  uint32_t kept = 0, gone = 0, step = 1;
  for (uint32_t i = x->rank; i-- > 0; step *= x->dim[i]) {
    const uint32_t length = x->dim[i];
    if (length == 1) continue;
    if (axes >> i & 1u) {
      list_axis(params->gone_size, params->gone_stride, &gone, length, step);
      params->elements *= length;
    } else {
      list_axis(params->kept_size, params->kept_stride, &kept, length, step);
    }
  }
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_reduce_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_reduce};
  heed_reduce_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .elements = 1,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
      .kept_size = {1, 1, 1},
      .gone_size = {1, 1, 1},
  };
  list_axes(heed_gpu_shape(builder, desc->x.id), desc->axes, &params);
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    (uint32_t)desc->kind, desc->last);
}

/* Along axis 0 of x where that is kept, and so is axis 0 of y. */
static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  const heed_reduce_desc *desc = node->desc;
  const uint32_t rank = heed_graph_record(builder->plan->graph, desc->x.id)->shape.rank;
  return (heed_gpu_split_axes){node->output[0], rank > 0 && !(desc->axes & 1u), 0};
}

static void check(heed_gpu_check_graph *c) {
  const heed_reduce_desc rows = {
      .struct_size = sizeof rows, .x = c->tokens, .kind = HEED_REDUCE_LOG_SUM_EXP, .axes = 4};
  heed_gpu_check_keep(c, heed_define_reduce(c->graph, &rows));
  const heed_reduce_desc tokens = {
      .struct_size = sizeof tokens, .x = c->tokens, .kind = HEED_REDUCE_MEAN, .axes = 2};
  heed_gpu_check_keep(c, heed_define_reduce(c->graph, &tokens));
}

const heed_gpu_op heed_gpu_reduce = {.build = build, .check = check, .split_axes = split_axes};
