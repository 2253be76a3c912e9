#version 450
// y = activation(x W^T + bias) + residual; y [rows, columns], or head-major [parts, B, H, T, D] where column n belongs to part
// n / (H D), head n / D % H. Bindings: 0 x, 1 weight in panels, 2 bias, 3 residual, 4 y.
#extension GL_GOOGLE_include_directive : require
#ifdef HEED_MATRIX
#include "include/matrix.glsl"
#endif
#include "include/base.glsl"
#include "params/linear.h"
#include "include/tile.glsl"

layout(constant_id = 9) const uint HAS_RESIDUAL = 0;
layout(constant_id = 10) const uint HEAD_MAJOR = 0;

layout(std430, binding = 3) readonly buffer R { float residual[]; };
layout(std430, binding = 3) readonly buffer R4 { vec4 residual4[]; };
layout(std430, binding = 4) writeonly buffer Y { float y[]; };
layout(std430, binding = 4) writeonly buffer Y4 { vec4 y4[]; };

uint tile_base(uint row) { return params.x_origin + row * params.depth; }
void tile_start() { tile_at = 0; }
void tile_next(uint step) { tile_at += step; }
uint tile_element(uint k) { return k; }

uint heed_where(uint row, uint column) {
  if (HEAD_MAJOR == 0) return row * params.columns + column;
  const uint head = column / params.head_size, part = head / params.heads, b = row / params.tokens;
  const uint slice = (part * params.batch + b) * params.heads + head % params.heads;
  return (slice * params.tokens + row % params.tokens) * params.head_size + column % params.head_size;
}

void tile_store(uint row, uint column, vec4 v) {
  if (VECTOR_OUT != 0) {
    const uint at = heed_where(row, column);
    if (HAS_RESIDUAL != 0) v += residual4[(params.residual_origin + at) >> 2];
    y4[(params.y_origin + at) >> 2] = v;
    return;
  }
  for (uint c = 0; c < 4; c++)
    if (column + c < params.columns) {
      const uint at = heed_where(row, column + c);
      y[params.y_origin + at] = HAS_RESIDUAL != 0 ? v[c] + residual[params.residual_origin + at] : v[c];
    }
}

void main() { tile_run(); }
