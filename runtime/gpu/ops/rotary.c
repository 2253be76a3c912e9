/* rotary on a GPU: one dispatch, two elements an invocation. */
#include "params/rotary.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "graph/op_check.h"
#include "graph/ops/rotary.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_rotary_desc *desc = node->desc;
  const heed_shape *x = heed_gpu_shape(builder, desc->x.id),
                   *table = heed_gpu_shape(builder, desc->cos.id);
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_rotary};
  const heed_rotary_params params = {
      .count = heed_gpu_count(builder, desc->x.id),
      .tables = table->rank == 3 ? table->dim[0] : 1,
      .tokens = x->dim[x->rank - 2],
      .depth = x->dim[x->rank - 1],
      .first = desc->first,
      .pairs = table->dim[table->rank - 1],
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .cos_origin = heed_gpu_read(builder, &dispatch, 1, desc->cos.id),
      .sin_origin = heed_gpu_read(builder, &dispatch, 2, desc->sin.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 3, node->output[0]),
  };
  heed_gpu_count_past(builder, &dispatch, 4, dispatch.binding[3].half);
  uint32_t groups[2];
  const uint32_t width = heed_gpu_width(builder);
  heed_gpu_spread(builder, params.count, width * 2, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width, desc->interleaved,
                    dispatch.binding[0].half, dispatch.binding[3].half);
}

/* A piece of some heads alone has the same table only where heads share one. */
static heed_gpu_split_axes split_axes(const heed_gpu_builder *builder, const heed_node *node) {
  const heed_rotary_desc *desc = node->desc;
  const bool shared = heed_graph_record(builder->plan->graph, desc->cos.id)->shape.rank == 2;
  return (heed_gpu_split_axes){node->output[0], shared ? 2 : 1, 0};
}

static bool writes_fp16(const heed_plan *plan, const heed_gpu_limits *limits,
                        const heed_node *node) {
  (void)limits;
  return heed_op_last(heed_graph_record(plan->graph, node->output[0])) % 4 == 0;
}

static bool reads_fp16(const heed_graph *graph, const heed_node *node, uint32_t slot) {
  (void)graph, (void)node;
  return slot == HEED_ROTARY_INPUT_X;
}

/* Halves with one table, and pairs side by side with a table a head; both with a token in front and
 * elements behind. */
static void check(heed_gpu_check_graph *c) {
  const uint32_t heads = HEED_GPU_CHECK_CHANNELS, tokens = HEED_GPU_CHECK_HEIGHT - 1,
                 pairs = HEED_GPU_CHECK_WIDTH / 2 - 1;
  const heed_shape shared = HEED_SHAPE(tokens, pairs), each = HEED_SHAPE(heads, tokens, pairs);
  for (uint32_t interleaved = 0; interleaved < 2; interleaved++) {
    const heed_shape table = interleaved ? each : shared;
    const heed_rotary_desc desc = {sizeof desc,
                                   c->image,
                                   heed_gpu_check_constant(c, table),
                                   heed_gpu_check_constant(c, table),
                                   1,
                                   interleaved};
    heed_gpu_check_keep(c, heed_define_rotary(c->graph, &desc));
  }
}

const heed_gpu_op heed_gpu_rotary = {
    .build = build,
    .check = check,
    .split_axes = split_axes,
    .whole = 1u << HEED_ROTARY_INPUT_COS | 1u << HEED_ROTARY_INPUT_SIN,
    .writes_fp16 = writes_fp16,
    .reads_fp16 = reads_fp16};
