#version 450
// y = activation(x W^T + bias) + residual; y [rows, columns], or head-major [parts, B, H, T, D]
// where column n belongs to part n / (H D), head n / D % H. Bindings: 0 x, 1 weight in panels, 2
// bias, 3 residual, 4 y, 5 counter; of a weight in int8 also 6 grids of the rows, 7 scales.
// Where rows and columns make too few workgroups the depth is cut too: among the GROUPS of a
// workgroup, then among workgroups. Workgroup z sums its share and stores that alone, [slices,
// rows, columns] into y; linear_sum.comp adds them in their order and does the rest. params.slice:
// values of k between two that begin, of groups (GROUPS of them a workgroup) or of workgroups.
#extension GL_GOOGLE_include_directive : require
#if defined HEED_MATRIX2
#include "include/matrix2.glsl"
#elif defined HEED_MATRIX
#include "include/matrix.glsl"
#endif
#define HEED_FP16_COUNTER 5
#include "include/base.glsl"
#include "params/linear.h"
#if !defined HEED_MATRIX && !defined HEED_MATRIX2
#ifdef HEED_TEXEL // barriers are slow on software devices
#define TILE_SLICE gl_WorkGroupID.z
#else
layout(constant_id = 11) const uint SLICED = 0;
#define TILE_SLICES (SLICED != 0)
#define TILE_SLICE \
  (TILE_SLICES ? gl_WorkGroupID.z * (gl_WorkGroupSize.x / LANES) + TILE_GROUP : gl_WorkGroupID.z)
#endif
#elif defined HEED_MATRIX
#define TILE_SLICE gl_WorkGroupID.z
#endif
#ifdef TILE_SLICE
#define TILE_FIRST min(params.depth, TILE_SLICE *params.slice)
#define TILE_END min(params.depth, TILE_FIRST + params.slice)
#endif
#include "include/tile.glsl"

layout(constant_id = 9) const uint HAS_RESIDUAL = 0;
layout(constant_id = 10) const uint HEAD_MAJOR = 0;

layout(std430, binding = 3) readonly buffer R { float residual[]; };
layout(std430, binding = 3) readonly buffer R4 { vec4 residual4[]; };
layout(std430, binding = 4) writeonly buffer Y { float y[]; };
layout(std430, binding = 4) writeonly buffer Y4 { vec4 y4[]; };
layout(std430, binding = 4) writeonly buffer YHalf { uvec2 y_half[]; };

uint tile_base(uint row) { return params.x_origin + row * params.depth; }
void tile_start() { tile_at = 0; }
void tile_next(uint step) { tile_at += step; }
uint tile_element(uint k) { return k; }

#include "include/linear_place.glsl"

#ifdef HEED_MATRIX2
layout(std430, binding = 4) writeonly buffer YHalves { float16_t y_halves[]; };

void tile_store_one(uint row, uint column, float v) {
  const uint at = heed_where(row, column);
  if (HAS_RESIDUAL != 0) v += residual[params.residual_origin + at];
  if (VECTOR_OUT == 2)
    y_halves[params.y_origin + at] = float16_t(v);
  else
    y[params.y_origin + at] = v;
}
#endif

uint tile_row_place(uint row) { return heed_row_place(row); }
uint tile_column_place(uint column) { return heed_column_place(column); }

void tile_put(uint at, vec4 v) {
  if (HAS_RESIDUAL != 0) v += residual4[(params.residual_origin + at) >> 2];
  if (VECTOR_OUT == 2)
    y_half[(params.y_origin + at) >> 2] = heed_pack(v);
  else
    y4[(params.y_origin + at) >> 2] = v;
}

void tile_store(uint row, uint column, vec4 v) {
  for (uint c = 0; c < 4; c++)
    if (column + c < params.columns) {
      const uint at = heed_where(row, column + c);
      y[params.y_origin + at] =
          HAS_RESIDUAL != 0 ? v[c] + residual[params.residual_origin + at] : v[c];
    }
}

void main() { tile_run(); }
