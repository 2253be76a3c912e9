/* attention_mask on a GPU: one dispatch, one word of the mask an invocation. */
#include "params/attention_mask.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_attention_mask_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_attention_mask};
  const heed_attention_mask_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .queries = desc->query_ids.id ? heed_gpu_shape(builder, desc->query_ids.id)->dim[1] : 1,
      .keys = heed_gpu_shape(builder, desc->key_ids.id)->dim[1],
      .padding = desc->padding_id,
      .query_origin = heed_gpu_read(builder, &dispatch, 1, desc->query_ids.id),
      .key_origin = heed_gpu_read(builder, &dispatch, 0, desc->key_ids.id),
      /* a result begins at a multiple of HEED_ARENA_ALIGNMENT, so at a whole word */
      .mask_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]) / 4,
  };
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, ((uint64_t)params.count + 3) / 4, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    desc->query_ids.id != 0, desc->causal);
}

static void check(heed_gpu_check_graph *c) {
  const heed_attention_mask_desc desc = {
      .struct_size = sizeof desc, .query_ids = c->ids, .key_ids = c->ids, .causal = true};
  heed_gpu_check_keep(c, heed_define_attention_mask(c->graph, &desc));
}

const heed_gpu_op heed_gpu_attention_mask = {
    .build = build, .check = check, .split_axes = heed_gpu_split_batch};
