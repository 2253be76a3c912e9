/* embedding on Vulkan: one dispatch, one element an invocation. */
#include "params/embedding.h"
#include "vulkan/builder.h"

static void build(heed_vk_builder *builder, const heed_node *node) {
  const heed_embedding_desc *desc = node->desc;
  const heed_shape *table = heed_vk_shape(builder, desc->table.id); /* [rows, C] */
  heed_vk_dispatch dispatch = {.shader = HEED_SHADER_embedding};
  const heed_embedding_params params = {
      .count = heed_vk_count(builder, node->output[0]),
      .rows = table->dim[0],
      .width = table->dim[1],
      .ids_origin = heed_vk_read(builder, &dispatch, 0, desc->ids.id),
      .table_origin = heed_vk_read(builder, &dispatch, 1, desc->table.id),
      .y_origin = heed_vk_write(builder, &dispatch, 2, node->output[0]),
  };
  uint32_t groups[2];
  const uint32_t width = heed_vk_width(builder);
  heed_vk_spread(builder, params.count, width, groups);
  HEED_VK_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width);
}

const heed_vk_op heed_vk_embedding = {"embedding", build, heed_vk_lead_rows, heed_vk_whole_weights};
