/* embedding on a GPU: one element an invocation; one dispatch for as many rows of the table as a
 * binding takes. */
#include "params/embedding.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "graph/ops/embedding.h"

static void add_rows(heed_gpu_builder *builder, const heed_node *node, uint32_t first,
                     uint32_t count) {
  const heed_embedding_desc *desc = node->desc;
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_embedding};
  const heed_embedding_params params = {
      .count = heed_gpu_count(builder, node->output[0]),
      .first_row = first,
      .rows = count,
      .width = heed_gpu_shape(builder, desc->table.id)->dim[1],
      .ids_origin = heed_gpu_read(builder, &dispatch, 0, desc->ids.id),
      .table_origin = heed_gpu_read_rows(builder, &dispatch, 1, desc->table.id, first, count),
      .y_origin = heed_gpu_write(builder, &dispatch, 2, node->output[0]),
  };
  uint32_t groups[2];
  const uint32_t width = heed_gpu_width(builder);
  heed_gpu_spread(builder, params.count, width, groups);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width);
}

static void build(heed_gpu_builder *builder, const heed_node *node) {
  /* [rows, C] */
  const heed_shape *table =
      heed_gpu_shape(builder, ((const heed_embedding_desc *)node->desc)->table.id);
  const uint64_t fit = heed_gpu_split_room(builder->limits) /
                       ((uint64_t)table->dim[1] * sizeof(float)),
                 rows = table->dim[0];
  const uint32_t most = (uint32_t)(fit < 1 ? 1 : fit < rows ? fit : rows);
  for (uint32_t first = 0; first < rows && builder->status == HEED_OK;) {
    const uint32_t count = (uint32_t)rows - first < most ? (uint32_t)rows - first : most;
    add_rows(builder, node, first, count);
    first += count;
  }
}

static void check(heed_gpu_check_graph *c) {
  const heed_embedding_desc desc = {
      .struct_size = sizeof desc,
      .ids = c->ids,
      .table = heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_ROWS, HEED_GPU_CHECK_ODD))};
  heed_gpu_check_keep(c, heed_define_embedding(c->graph, &desc));
}

const heed_gpu_op heed_gpu_embedding = {.build = build,
                                        .check = check,
                                        .split_axes = heed_gpu_split_rows,
                                        .whole = 1u << HEED_EMBEDDING_INPUT_TABLE};
