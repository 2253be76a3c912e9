/* linear on Vulkan: one product whose epilogue adds bias, activates, adds the residual, or writes head-major. */
#include "params/linear.h"
#include "vulkan/tile.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  const heed_linear_desc *desc = node->desc;
  const heed_shape *x = heed_vk_shape(builder, desc->x.id), *w = heed_vk_shape(builder, desc->weight.id);
  heed_linear_params params = {.columns = w->dim[0], .depth = w->dim[1], .heads = 1, .tokens = 1, .head_size = 1, .batch = 1};
  params.rows = heed_vk_count(builder, desc->x.id) / params.depth;
  if (desc->heads) {
    const uint32_t parts = desc->parts ? desc->parts : 1;
    params.batch = x->dim[0];
    params.tokens = x->dim[1];
    params.heads = desc->heads;
    params.head_size = params.columns / parts / desc->heads;
  }
  heed_vk_dispatch dispatch = {.shader = HEED_SHADER_linear};
  params.x_origin = heed_vk_read(builder, &dispatch, 0, desc->x.id);
  const bool vector = params.depth % 4 == 0 && params.x_origin % 4 == 0;
  const heed_vk_tile tile = heed_vk_choose_tile(builder, params.rows, params.columns, params.depth, dispatch.binding[0].bytes, vector);
  heed_vk_read_panels(builder, &dispatch, 1, desc->weight.id, params.columns, params.depth, tile.panel, tile.half);
  if (tile.half) dispatch.shader = HEED_SHADER_linear_half;
  if (tile.texels) {
    dispatch.shader = HEED_SHADER_linear_texel;
    heed_vk_as_texels(&dispatch, 0);
    heed_vk_as_texels(&dispatch, 1);
  }
  params.bias_origin = heed_vk_read(builder, &dispatch, 2, desc->bias.id);
  params.residual_origin = heed_vk_read(builder, &dispatch, 3, desc->residual.id);
  params.y_origin = heed_vk_write(builder, &dispatch, 4, node->output[0]);
  const uint32_t run = desc->heads ? params.head_size : params.columns; /* columns that lie side by side in y */
  const bool vector_out = run % 4 == 0 && params.y_origin % 4 == 0 && params.residual_origin % 4 == 0;
  HEED_VK_DISPATCH(builder, &dispatch, &params, tile.x, tile.y, 1, tile.lanes * tile.groups, tile.rows, tile.columns, tile.lanes, tile.groups, vector,
                   (uint32_t)desc->activation, desc->bias.id != 0, vector_out, desc->residual.id != 0, desc->heads != 0);
}

const heed_vk_op heed_vk_linear = {"linear", build};
