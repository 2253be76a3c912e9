#version 450
// y = factor x (g - sum of x g) over the last axis: what the input of a softmax that gave x gets of
// g. Bindings: 0 x, 1 g, 2 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/row.glsl"
#include "params/softmax_gradient.h"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer G { float g[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };

void main() {
  const uint row = min(heed_row(), params.rows - 1), lane = heed_lane();
  const uint x_at = params.x_origin + row * params.width,
             g_at = params.g_origin + row * params.width;
  float sum = 0.0;
  for (uint i = lane; i < params.width; i += LANES) sum += x[x_at + i] * g[g_at + i];
  sum = heed_row_sum(sum);
  if (heed_row() >= params.rows) return;
  for (uint i = lane; i < params.width; i += LANES)
    y[params.y_origin + row * params.width + i] = params.factor * x[x_at + i] * (g[g_at + i] - sum);
}
