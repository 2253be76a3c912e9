/* position_mask on a GPU: one dispatch, one word of the mask an invocation. */
#include "params/position_mask.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "graph/attention_rule.h"

#define FAR ((int64_t)1 << 28) /* as the shader has it */
#define OPEN (1 << 30)         /* a side past every key, whatever the offset */

static int32_t clip(int64_t distance) {
  return (int32_t)(distance > FAR ? FAR : distance < -FAR ? -FAR : distance);
}

/* Keys that a query sees relative to i + the offset of its batch item. */
static void find_band(const heed_position_mask_desc *desc, heed_position_mask_params *params) {
  const heed_attention_desc rule = {.causal = desc->causal, .causal_offset = desc->causal_offset};
  const int64_t at = heed_attention_offset(&rule, desc->queries, desc->keys);
  int64_t most = INT64_MAX;
  params->least = desc->window && desc->window_left >= 0 ? clip(at - desc->window_left) : -OPEN;
  if (desc->causal != HEED_CAUSAL_NONE) most = at;
  if (desc->window && desc->window_right >= 0 && at + desc->window_right < most)
    most = at + desc->window_right;
  params->most = most == INT64_MAX ? OPEN : clip(most);
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_position_mask_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_position_mask};
  const heed_shape *shape = heed_gpu_shape(builder, node->output[0]);
  heed_position_mask_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .heads = shape->dim[1],
      .queries = shape->dim[2],
      .keys = shape->dim[3],
      .offsets_origin = heed_gpu_read(builder, &dispatch, 0, desc->offsets.id),
      .mask_origin = heed_gpu_read(builder, &dispatch, 1, desc->mask.id),
      /* a result begins at a multiple of HEED_ARENA_ALIGNMENT, so at a whole word */
      .output_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]) / 4,
  };
  if (desc->mask.id && heed_graph_record(builder->plan->graph, desc->mask.id)->shape.dim[0] > 1)
    params.mask_stride = shape->dim[1] * shape->dim[2] * shape->dim[3];
  find_band(desc, &params);
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, ((uint64_t)params.count + 3) / 4, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    desc->mask.id != 0);
}

static void check(heed_gpu_check_graph *c) {
  const heed_shape all = HEED_SHAPE(HEED_GPU_CHECK_BATCH * HEED_GPU_CHECK_LENGTH);
  const heed_position_mask_desc desc = {.struct_size = sizeof desc,
                                        .offsets = heed_define_reshape(c->graph, c->ids, &all),
                                        .queries = 5,
                                        .keys = 7,
                                        .causal = HEED_CAUSAL_TOP_LEFT,
                                        .window = true,
                                        .window_left = 3,
                                        .window_right = -1};
  heed_gpu_check_keep(c, heed_define_position_mask(c->graph, &desc));
}

const heed_gpu_op heed_gpu_position_mask = {
    .build = build, .check = check, .split_axes = heed_gpu_split_batch};
