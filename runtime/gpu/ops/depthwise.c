/* depthwise on a GPU: one dispatch, one window an invocation. */
#include "graph/ops/depthwise.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "params/depthwise.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_depthwise_desc *desc = node->desc;
  const uint32_t *x = heed_gpu_shape(builder, desc->x.id)->dim,
                 *y = heed_gpu_shape(builder, node->output[0])->dim;
  const int32_t counted = desc->count_padding ? 1 : 0;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_depthwise};
  const heed_depthwise_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .channels = x[1],
      .outputs = y[1],
      .height = x[2],
      .width = x[3],
      .rows = y[2],
      .columns = y[3],
      .kernel_rows = desc->kernel[0],
      .kernel_columns = desc->kernel[1],
      .stride_rows = desc->stride[0],
      .stride_columns = desc->stride[1],
      .dilation_rows = desc->dilation[0],
      .dilation_columns = desc->dilation[1],
      .top = -(int32_t)desc->before[0],
      .left = -(int32_t)desc->before[1],
      .low_row = -(int32_t)desc->before[0] * counted,
      .high_row = (int32_t)x[2] + (int32_t)desc->after[0] * counted,
      .low_column = -(int32_t)desc->before[1] * counted,
      .high_column = (int32_t)x[3] + (int32_t)desc->after[1] * counted,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .weight_origin = heed_gpu_read(builder, &dispatch, 1, desc->weight.id),
      .bias_origin = heed_gpu_read(builder, &dispatch, 2, desc->bias.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 3, node->output[0]),
  };
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    (uint32_t)desc->kind, desc->bias.id != 0);
}

static void check(heed_gpu_check_graph *c) {
  const heed_depthwise_desc sum = {
      .struct_size = sizeof sum,
      .x = c->image,
      .weight = heed_gpu_check_constant(c, HEED_SHAPE(2 * HEED_GPU_CHECK_CHANNELS, 3, 2)),
      .bias = heed_gpu_check_constant(c, HEED_SHAPE(2 * HEED_GPU_CHECK_CHANNELS)),
      .stride = {2, 1},
      .dilation = {1, 3},
      .before = {1, 2},
      .after = {1, 0}};
  heed_gpu_check_keep(c, heed_define_depthwise(c->graph, &sum));
  for (int kind = HEED_DEPTHWISE_MEAN; kind <= HEED_DEPTHWISE_MAX; kind++) {
    const heed_depthwise_desc pool = {.struct_size = sizeof pool,
                                      .x = c->image,
                                      .kind = (heed_depthwise)kind,
                                      .kernel = {3, 3},
                                      .stride = {2, 2},
                                      .before = {1, 1},
                                      .after = {1, 1}};
    heed_gpu_check_keep(c, heed_define_depthwise(c->graph, &pool));
  }
}

const heed_gpu_op heed_gpu_depthwise = {
    .build = build,
    .check = check,
    .split_axes = heed_gpu_split_batch,
    .whole = 1u << HEED_DEPTHWISE_INPUT_WEIGHT | 1u << HEED_DEPTHWISE_INPUT_BIAS};
