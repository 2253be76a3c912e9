/* The rows of a product in int8, and the kernel that multiplies them. */
#include "gpu/ops/linear_int8.h"

#include "base/alloc.h"
#include "params/quantise_rows.h"

/* x as whole numbers of so many bytes: s8, fp16 or fp32. */
static void quantise(heed_gpu_builder *builder, uint32_t x, heed_quantise_rows_params params,
                     uint32_t bytes, uint64_t grids) {
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_quantise_rows};
  const uint64_t numbers = (uint64_t)params.rows * params.padded * bytes;
  params.x_origin = heed_gpu_read(builder, &dispatch, 0, x);
  heed_gpu_scratch(builder, &dispatch, 1, 0, numbers, true);
  heed_gpu_scratch(builder, &dispatch, 2, grids, (uint64_t)params.rows * 8, true);
  const heed_gpu_rows rows = heed_gpu_share_rows(builder, params.rows, params.width);
  if (rows.subgroups) heed_gpu_by_subgroups(builder, &dispatch, HEED_SHADER_quantise_rows_subgroup);
  const uint32_t vector = dispatch.binding[0].half ? 2 : (params.width | params.x_origin) % 4 == 0;
  uint32_t groups[2];
  heed_gpu_spread(builder, params.rows, rows.width / rows.lanes, groups);
  heed_gpu_set_tile(&dispatch, rows.width / rows.lanes, rows.lanes);
  HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, rows.width, rows.lanes,
                    vector, bytes);
}

static heed_gpu_shader shader_of(const heed_gpu_tile *tile) {
  if (tile->matrix) return HEED_SHADER_linear_int8_matrix;
  if (tile->texels) return HEED_SHADER_linear_int8_texel;
  return tile->bytes ? HEED_SHADER_linear_int8_dot : HEED_SHADER_linear_int8;
}

heed_gpu_tile heed_gpu_int8_begin(heed_gpu_builder *builder, uint32_t x,
                                  const heed_quantised *quantised, uint32_t first,
                                  heed_linear_params *params, heed_gpu_dispatch *product) {
  const uint32_t width = params->depth;
  params->depth = heed_gpu_divide(width, HEED_GPU_INT8_UNIT) * HEED_GPU_INT8_UNIT;
  const heed_gpu_tile tile =
      heed_gpu_choose_int8_tile(builder, params->rows, params->columns, params->depth);
  const uint32_t bytes = tile.bytes ? 1 : tile.scalar ? 4 : 2;
  const uint64_t numbers = (uint64_t)params->rows * params->depth * bytes,
                 grids = heed_align_up(numbers, builder->limits->alignment);
  quantise(builder, x, (heed_quantise_rows_params){params->rows, width, params->depth, 0}, bytes,
           grids);
  product->shader = shader_of(&tile);
  heed_gpu_scratch(builder, product, 0, 0, numbers, false);
  product->binding[0].half = bytes == 2;
  if (tile.texels) heed_gpu_as_texels(product, 0);
  heed_gpu_scratch(builder, product, 6, grids, (uint64_t)params->rows * 8, false);
  heed_gpu_read_data(builder, product, 7, quantised->scale + first,
                     params->columns * sizeof *quantised->scale);
  return tile;
}
