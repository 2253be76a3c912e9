/* activation on a GPU: one dispatch, four elements an invocation. */
#include "params/activation.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_activation_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_activation};
  const heed_activation_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .x_origin = heed_gpu_read(builder, &dispatch, 0, desc->x.id),
      .y_origin = heed_gpu_write(builder, &dispatch, 1, node->output[0]),
      .times_origin =
          heed_gpu_read(builder, &dispatch, 2, desc->times.id ? desc->times.id : desc->x.id),
  };
  uint32_t groups[2];
  const uint32_t width = heed_gpu_width(builder);
  heed_gpu_spread(builder, params.count, width * 4, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                    (uint32_t)desc->kind | (uint32_t)desc->form << 8, desc->times.id != 0);
}

static void check(heed_gpu_check_graph *c) {
  heed_activation_desc desc = {
      .struct_size = sizeof desc, .x = c->tokens, .kind = HEED_ACTIVATION_TANH};
  heed_gpu_check_keep(c, heed_define_activation(c->graph, &desc));
  desc.form = HEED_ACTIVATION_SLOPE;
  desc.times = c->tokens;
  heed_gpu_check_keep(c, heed_define_activation(c->graph, &desc));
}

const heed_gpu_op heed_gpu_activation = {
    .build = build, .check = check, .split_axes = heed_gpu_split_elements};
