/* patch_embedding on a GPU: the product of linear with rows gathered from the image. */
#include "params/patch_embedding.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "gpu/tile.h"
#include "graph/ops/patch_embedding.h"

static void build(heed_gpu_builder *builder, const heed_node *node) {
  const heed_patch_embedding_desc *desc = node->desc;
  const uint32_t *image =
      heed_gpu_shape(builder, desc->image.id)->dim;                  /* [B, Cin, height, width] */
  const uint32_t *w = heed_gpu_shape(builder, desc->weight.id)->dim; /* [C, Cin, P, P] */
  heed_patch_embedding_params params = {
      .columns = w[0],
      .depth = w[1] * w[2] * w[3],
      .patches = (image[2] / w[2]) * (image[3] / w[3]),
      .patches_across = image[3] / w[3],
      .side = w[2],
      .channels = image[1],
      .height = image[2],
      .width = image[3],
  };
  params.rows = image[0] * params.patches;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_patch_embedding};
  params.x_origin = heed_gpu_read(builder, &dispatch, 0, desc->image.id);
  const bool vector = params.side % 4 == 0 && params.width % 4 == 0 && params.x_origin % 4 == 0;
  const heed_gpu_tile tile = heed_gpu_choose_tile(builder, params.rows, params.columns,
                                                  params.depth, &dispatch.binding[0], vector);
  if (tile.half)
    dispatch.shader =
        tile.matrix ? HEED_SHADER_patch_embedding_matrix : HEED_SHADER_patch_embedding_half;
  if (tile.texels) {
    dispatch.shader = HEED_SHADER_patch_embedding_texel;
    heed_gpu_as_texels(&dispatch, 0);
  }
  params.bias_origin = heed_gpu_read(builder, &dispatch, 2, desc->bias.id);
  params.y_origin = heed_gpu_write(builder, &dispatch, 3, node->output[0]);
  if (tile.matrix) heed_gpu_count_past(builder, &dispatch, 4, true);
  const bool vector_out = params.columns % 4 == 0 && params.y_origin % 4 == 0;
  const uint32_t constants[6] = {
      vector, (uint32_t)HEED_ACTIVATION_NONE, desc->bias.id != 0, vector_out, 0, 0};
  const heed_gpu_panels panels = {params.columns, params.depth, tile.panel, tile.half, 0, 0, 0};
  heed_gpu_append_panels(builder, &dispatch, &tile, desc->weight.id, panels, constants, &params,
                         sizeof params, &params.first_panel);
}

static void check(heed_gpu_check_graph *c) {
  const heed_patch_embedding_desc desc = {
      sizeof desc, c->image,
      heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_WIDE, HEED_GPU_CHECK_CHANNELS,
                                            HEED_GPU_CHECK_PATCH, HEED_GPU_CHECK_PATCH)),
      heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_WIDE))};
  c->patches = heed_gpu_check_keep(c, heed_define_patch_embedding(c->graph, &desc));
}

const heed_gpu_op heed_gpu_patch_embedding = {
    .build = build,
    .check = check,
    .split_axes = heed_gpu_split_batch,
    .whole = 1u << HEED_PATCH_EMBEDDING_INPUT_WEIGHT | 1u << HEED_PATCH_EMBEDDING_INPUT_BIAS};
