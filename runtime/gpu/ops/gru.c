/* gru on a GPU: gpu/ops/recurrent.h. */
#include "gpu/ops/recurrent.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  heed_gpu_recurrent_build(builder, node, HEED_SHADER_gru);
}

static void check(heed_gpu_check_graph *c) {
  heed_recurrent_desc desc = heed_gpu_recurrent_check(c, 3);
  desc.reverse = true;
  const heed_recurrent_values values = heed_define_gru(c->graph, &desc);
  heed_gpu_check_keep(c, values.y);
  heed_gpu_check_keep(c, values.h);
}

const heed_gpu_op heed_gpu_gru = {.build = build,
                                  .check = check,
                                  .split_axes = heed_gpu_split_batch,
                                  .whole = HEED_GPU_RECURRENT_WHOLE};
