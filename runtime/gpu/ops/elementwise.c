/* elementwise on a GPU: one dispatch. Axes through which all inputs step alike are merged first. */
#include "graph/ops/elementwise.h"
#include "base/tensor.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/elementwise.h"

enum { INPUTS = HEED_ELEMENTWISE_INPUTS, AXES = HEED_MAX_RANK };

static uint32_t dim_from_back(const heed_shape *shape, uint32_t axis) {
  return shape && axis < shape->rank ? shape->dim[shape->rank - 1 - axis] : 1;
}

/* Fills size and stride from the back; returns the number of merged axes. */
static uint32_t merge_axes(const heed_shape *y, const heed_shape *const x[INPUTS],
                           heed_elementwise_params *params) {
  uint32_t *const strides[INPUTS] = {params->a_stride, params->b_stride, params->c_stride};
  uint32_t axes = 0, step[INPUTS] = {1, 1, 1};
  for (uint32_t axis = 0; axis < y->rank; axis++) {
    const uint32_t size = y->dim[y->rank - 1 - axis], last = AXES - axes;
    if (size == 1) continue;
    uint32_t stride[INPUTS];
    bool alike = axes > 0;
    for (uint32_t i = 0; i < INPUTS; i++) {
      const uint32_t have = dim_from_back(x[i], axis);
      stride[i] = have == 1 ? 0 : step[i];
      step[i] *= have;
      alike = alike && stride[i] == strides[i][last] * params->size[last];
    }
    if (alike) {
      params->size[last] *= size;
      continue;
    }
    axes++;
    params->size[last - 1] = size;
    for (uint32_t i = 0; i < INPUTS; i++) strides[i][last - 1] = stride[i];
  }
  return axes ? axes : 1;
}

static heed_dtype dtype_of(const heed_gpu_builder *builder, uint32_t value) {
  return value ? heed_graph_record(builder->plan->graph, value)->dtype : HEED_F32;
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_elementwise_desc *desc = node->desc;
  const uint32_t *input = node->input;
  const bool bytes = desc->dtype == HEED_U8;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_elementwise};
  heed_elementwise_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .a_origin = heed_gpu_read(builder, &dispatch, 0, input[HEED_ELEMENTWISE_INPUT_A]),
      .b_origin = heed_gpu_read(builder, &dispatch, 1, input[HEED_ELEMENTWISE_INPUT_B]),
      .c_origin = heed_gpu_read(builder, &dispatch, 2, input[HEED_ELEMENTWISE_INPUT_C]),
      .y_origin = heed_gpu_write(builder, &dispatch, 3, node->output[0]),
      .size = {1, 1, 1, 1, 1, 1},
      .alpha = desc->alpha,
      .beta = desc->beta,
  };
  /* a result begins at a multiple of HEED_ARENA_ALIGNMENT, so at a whole word */
  if (bytes) params.y_origin /= 4;
  const heed_shape *x[INPUTS] = {NULL, NULL, NULL};
  for (uint32_t i = 0; i < INPUTS; i++)
    if (input[i]) x[i] = heed_gpu_shape(builder, input[i]);
  const uint32_t axes = merge_axes(heed_gpu_shape(builder, node->output[0]), x, &params),
                 width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, bytes ? ((uint64_t)params.count + 3) / 4 : params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, axes,
                    (uint32_t)desc->kind, (uint32_t)dtype_of(builder, input[0]),
                    (uint32_t)dtype_of(builder, input[1]), (uint32_t)dtype_of(builder, input[2]),
                    (uint32_t)desc->dtype);
}

/* Bytes of a word belong to one invocation, so a result of U8 is not split. */
static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  const heed_graph *graph = builder->plan->graph;
  const heed_shape *y = &heed_graph_record(graph, node->output[0])->shape;
  if (((const heed_elementwise_desc *)node->desc)->dtype == HEED_U8 || y->rank == 0)
    return (heed_gpu_split_axes){node->output[0], 0, 0};
  for (uint32_t i = 0; i < INPUTS; i++)
    if (node->input[i] && !heed_shape_equal(&heed_graph_record(graph, node->input[i])->shape, y))
      return heed_gpu_split_batch(builder, node);
  return heed_gpu_split_elements(builder, node);
}

/* An input of fewer axes is repeated along those in front. */
static bool is_unsplit(const heed_gpu_builder *builder, const heed_node *node, uint32_t value) {
  const heed_graph *graph = builder->plan->graph;
  return heed_graph_record(graph, value)->shape.rank <
         heed_graph_record(graph, node->output[0])->shape.rank;
}

/* A column that is broadcast, and a kind of each number of inputs. */
static void check(heed_gpu_check_graph *c) {
  const heed_elementwise_desc difference = {
      .struct_size = sizeof difference,
      .a = c->tokens,
      .b = heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_LENGTH, 1)),
      .kind = HEED_ELEMENTWISE_SUBTRACT};
  const heed_value x = heed_gpu_check_keep(c, heed_define_elementwise(c->graph, &difference));
  const heed_elementwise_desc positive = {.struct_size = sizeof positive,
                                          .a = x,
                                          .b = heed_gpu_check_constant(c, HEED_SHAPE(1)),
                                          .kind = HEED_ELEMENTWISE_LESS};
  const heed_elementwise_desc chosen = {
      .struct_size = sizeof chosen,
      .a = heed_gpu_check_keep(c, heed_define_elementwise(c->graph, &positive)),
      .b = x,
      .c = c->tokens,
      .kind = HEED_ELEMENTWISE_SELECT};
  const heed_elementwise_desc exponential = {
      .struct_size = sizeof exponential,
      .a = heed_gpu_check_keep(c, heed_define_elementwise(c->graph, &chosen)),
      .kind = HEED_ELEMENTWISE_EXP};
  heed_gpu_check_keep(c, heed_define_elementwise(c->graph, &exponential));
}

const heed_gpu_op heed_gpu_elementwise = {
    .build = build, .check = check, .split_axes = split_axes, .is_unsplit = is_unsplit};
