/* layer_norm on a GPU, and what it passes back: one dispatch, a row by one invocation or shared by
 * several. */
#include "params/layer_norm.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "graph/op_check.h"
#include "graph/ops/layer_norm.h"
#include "params/layer_norm_gradient.h"

#define MOST_FOURS 8 /* of a row in the registers of a lane */

static void build_gradient(heed_gpu_builder *builder, const heed_node *node) {
  const heed_layer_norm_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id);
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_layer_norm_gradient};
  heed_layer_norm_gradient_params params = {
      .width = x->dim[x->rank - 1],
      .epsilon = desc->epsilon,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .gain_origin = heed_gpu_read(builder, &dispatch, 1, desc->gain.id),
      .g_origin = heed_gpu_read(builder, &dispatch, 2, desc->gradient.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 3, node->output[0]),
  };
  params.rows = heed_gpu_count(builder, desc->x.id) / params.width;
  const heed_gpu_rows rows = heed_gpu_share_rows(builder, params.rows, params.width);
  if (rows.subgroups)
    heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_layer_norm_gradient_subgroup);
  uint32_t groups[2];
  heed_gpu_spread(builder, params.rows, rows.width / rows.lanes, groups);
  heed_gpu_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes,
                    desc->rms, desc->held);
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_layer_norm_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id);
  if (desc->gradient.id) {
    build_gradient(builder, node);
    return;
  }
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_layer_norm};
  heed_layer_norm_params params = {
      .width = x->dim[x->rank - 1],
      .epsilon = desc->epsilon,
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .gain_origin = heed_gpu_read(builder, &dispatch, 1, desc->gain.id),
      .bias_origin =
          heed_gpu_read(builder, &dispatch, 2, desc->bias.id ? desc->bias.id : desc->gain.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 3, node->output[0]),
  };
  heed_gpu_count_past(builder, &dispatch, 4, dispatch.binding[3].half);
  params.rows = heed_gpu_count(builder, desc->x.id) / params.width;
  const heed_gpu_rows rows = heed_gpu_share_rows(builder, params.rows, params.width);
  if (rows.subgroups) heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_layer_norm_subgroup);
  const bool vector =
      (params.width | params.x_origin | params.gain_origin | params.bias_origin | params.y_origin) %
          4 ==
      0;
  const uint32_t fours = heed_gpu_divide(params.width, 4 * rows.lanes);
  if (rows.lanes == 1 && vector && heed_gpu_can_texel(builder, dispatch.binding[0].bytes)) {
    dispatch.shader = HEED_SHADER_layer_norm_texel;
    for (uint32_t slot = 0; slot < 3; slot++) heed_gpu_as_texels(&dispatch, slot);
  }
  uint32_t groups[2];
  heed_gpu_spread(builder, params.rows, rows.width / rows.lanes, groups);
  heed_gpu_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes,
                    desc->rms, desc->bias.id != 0,
                    builder->limits->cpu || fours > MOST_FOURS ? 0 : fours, vector,
                    dispatch.binding[3].half);
}

/* Only where matrices take it as fp16 anyway: elsewhere it would cost nearly half of the error that
 * a model may have (tests/bench/NOTES.md). */
static bool writes_fp16(const heed_plan *plan, const heed_gpu_limits *limits,
                        const heed_node *node) {
  return limits->matrix.rows != 0 && !((const heed_layer_norm_desc *)node->desc)->gradient.id &&
         heed_op_last(heed_graph_record(plan->graph, node->output[0])) % 4 == 0;
}

static void check(heed_gpu_check_graph *c) {
  const heed_shape width = HEED_SHAPE(HEED_GPU_CHECK_ODD);
  const heed_layer_norm_desc desc = {sizeof desc, c->tokens, heed_gpu_check_constant(c, width),
                                     heed_gpu_check_constant(c, width), 1e-6f};
  heed_gpu_check_keep(c, heed_define_layer_norm(c->graph, &desc));
  const heed_layer_norm_desc rms = {.struct_size = sizeof rms,
                                    .x = c->tokens,
                                    .gain = heed_gpu_check_constant(c, width),
                                    .epsilon = 1e-6f,
                                    .rms = true};
  heed_gpu_check_keep(c, heed_define_layer_norm(c->graph, &rms));
  heed_layer_norm_desc back = rms;
  back.gradient = c->tokens;
  for (uint32_t i = 0; i < 4; i++) {
    back.rms = i & 1;
    back.held = i & 2;
    heed_gpu_check_keep(c, heed_define_layer_norm(c->graph, &back));
  }
}

const heed_gpu_op heed_gpu_layer_norm = {
    .build = build,
    .check = check,
    .split_axes = heed_gpu_split_rows,
    .whole = 1u << HEED_LAYER_NORM_INPUT_GAIN | 1u << HEED_LAYER_NORM_INPUT_BIAS,
    .writes_fp16 = writes_fp16};
