// tile_run of tile.glsl by VK_NV_cooperative_matrix2: one product of TILE_ROWS x STEP by STEP x one
// panel for the whole workgroup, whose parts the driver lays out. Tensor layouts read 0 past the
// ends of the tensors; x becomes fp16 as it is loaded; the epilogue is a function of an element.
#ifndef HEED_TILE_MATRIX2_GLSL
#define HEED_TILE_MATRIX2_GLSL

layout(constant_id = 11) const uint TILE_ROWS = 128;
layout(constant_id = 12) const uint TILE_COLUMNS = 128; // of a panel
layout(constant_id = 13) const uint STEP = 64;          // of k

layout(buffer_reference, std430, buffer_reference_align = 4) buffer FloatBlock { float value[1]; };
float16_t decode_float(const in FloatBlock block, const in uint coordinate[2],
                       const in uint inside[2]) {
  return float16_t(block.value[0]);
}

float finish_element(const in uint r, const in uint c, const in float sum, const in uint row0,
                     const in uint column0) {
  const uint row = row0 + r, column = column0 + c;
  if (row < params.rows && column < params.columns) {
    const float b = HAS_BIAS != 0 ? bias[params.bias_origin + column] : 0.0;
    tile_store_one(row, column, heed_activate(KIND, vec4(sum + b)).x);
  }
  return sum;
}

void tile_run() {
  const uint row0 = gl_WorkGroupID.x * TILE_ROWS,
             column0 = (params.first_panel + gl_WorkGroupID.y) * TILE_COLUMNS;
  tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> of_x =
      createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
  tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> of_w =
      createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
  of_x = setTensorLayoutDimensionNV(of_x, params.rows, params.depth);
  of_w = setTensorLayoutDimensionNV(of_w, params.depth, TILE_COLUMNS);
  const uint panel = gl_WorkGroupID.y * params.depth * TILE_COLUMNS;
  coopmat<float, gl_ScopeWorkgroup, TILE_ROWS, TILE_COLUMNS, gl_MatrixUseAccumulator> sum;
  sum = coopmat<float, gl_ScopeWorkgroup, TILE_ROWS, TILE_COLUMNS, gl_MatrixUseAccumulator>(0.0);
  for (uint k = 0; k < params.depth; k += STEP) {
    coopmat<float16_t, gl_ScopeWorkgroup, TILE_ROWS, STEP, gl_MatrixUseA> a;
    coopmat<float16_t, gl_ScopeWorkgroup, STEP, TILE_COLUMNS, gl_MatrixUseB> b;
    if (VECTOR == 2)
      coopMatLoadTensorNV(a, x_halves, params.x_origin,
                          sliceTensorLayoutNV(of_x, row0, TILE_ROWS, k, STEP));
    else
      coopMatLoadTensorNV(a, x, params.x_origin,
                          sliceTensorLayoutNV(of_x, row0, TILE_ROWS, k, STEP), decode_float);
    coopMatLoadTensorNV(b, w_halves, panel, sliceTensorLayoutNV(of_w, k, STEP, 0, TILE_COLUMNS));
    sum = coopMatMulAdd(a, b, sum);
  }
  coopMatPerElementNV(sum, sum, finish_element, row0, column0);
}

#endif
