#version 450
// linear, second of two dispatches where its depth is cut: y = activation(sum of slices + bias) +
// residual, a vec4 of columns an invocation, slices in their order. Bindings: 0 slices [slices,
// rows, columns], 1 unused, 2 bias, 3 residual, 4 y, 5 counter.
#extension GL_GOOGLE_include_directive : require
#define HEED_FP16_COUNTER 5
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/linear.h"

layout(constant_id = 1) const uint KIND = 0; // activation
layout(constant_id = 2) const uint HAS_BIAS = 0;
layout(constant_id = 3) const uint HAS_RESIDUAL = 0;
layout(constant_id = 4) const uint HEAD_MAJOR = 0;
layout(constant_id = 5) const uint HALF_OUT = 0; // y is fp16, its columns in fours

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) readonly buffer R { float residual[]; };
layout(std430, binding = 4) writeonly buffer Y { float y[]; };
layout(std430, binding = 4) writeonly buffer YHalf { uvec2 y_half[]; };

#include "include/linear_place.glsl"

void main() {
  const uint fours = (params.columns + 3) / 4, item = heed_item();
  if (item >= fours * params.rows) return;
  const uint row = item / fours, column = item % fours * 4,
             slices = (params.depth + params.slice - 1) / params.slice;
  vec4 v = vec4(0.0);
  for (uint s = 0; s < slices; s++)
    for (uint c = 0; c < 4; c++)
      v[c] += x[(s * params.rows + row) * params.columns + min(column + c, params.columns - 1)];
  for (uint c = 0; c < 4; c++)
    if (HAS_BIAS != 0) v[c] += bias[params.bias_origin + min(column + c, params.columns - 1)];
  v = heed_activate(KIND, v);
  if (HALF_OUT != 0) {
    y_half[(params.y_origin + heed_where(row, column)) >> 2] = heed_pack(v);
    return;
  }
  for (uint c = 0; c < 4; c++)
    if (column + c < params.columns) {
      const uint at = heed_where(row, column + c);
      y[params.y_origin + at] =
          HAS_RESIDUAL != 0 ? v[c] + residual[params.residual_origin + at] : v[c];
    }
}
