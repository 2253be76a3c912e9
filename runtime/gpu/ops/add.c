/* add on a GPU: gpu/ops/broadcast.h. */
#include "gpu/ops/broadcast.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  heed_gpu_broadcast_build(builder, node, HEED_SHADER_add);
}

static void check(heed_gpu_check_graph *c) {
  const heed_add_desc desc = {
      sizeof desc, c->tokens,
      heed_gpu_check_constant(c, HEED_SHAPE(1, HEED_GPU_CHECK_LENGTH, HEED_GPU_CHECK_ODD))};
  heed_gpu_check_keep(c, heed_define_add(c->graph, &desc));
}

const heed_gpu_op heed_gpu_add = {.build = build,
                                  .check = check,
                                  .split_axes = heed_gpu_broadcast_split,
                                  .is_unsplit = heed_gpu_broadcast_is_unsplit};
