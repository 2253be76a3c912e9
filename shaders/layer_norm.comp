#version 450
// y = gain (x - mean) / sqrt(variance + epsilon) + bias over the last axis: 1 mean 2 variance about it, and what
// rounding left of the mean (a mean far from 0 costs digits) 3 result.
// Bindings: 0 x, 1 gain, 2 bias, 3 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/row.glsl"
#include "params/layer_norm.h"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };

void main() {
  const uint row = min(heed_row(), params.rows - 1), lane = heed_lane();
  const uint from = params.x_origin + row * params.width;
  // Four running sums: shorter chains, smaller rounding error.
  vec4 sums = vec4(0.0);
  uint i = lane;
  for (; i + 3 * LANES < params.width; i += 4 * LANES)
    sums += vec4(x[from + i], x[from + i + LANES], x[from + i + 2 * LANES], x[from + i + 3 * LANES]);
  for (; i < params.width; i += LANES) sums.x += x[from + i];
  const float mean = heed_row_sum((sums.x + sums.y) + (sums.z + sums.w)) / float(params.width);
  sums = vec4(0.0);
  vec4 rests = vec4(0.0);
  i = lane;
  for (; i + 3 * LANES < params.width; i += 4 * LANES) {
    const vec4 d = vec4(x[from + i], x[from + i + LANES], x[from + i + 2 * LANES], x[from + i + 3 * LANES]) - mean;
    sums += d * d;
    rests += d;
  }
  for (; i < params.width; i += LANES) {
    const float d = x[from + i] - mean;
    sums.x += d * d;
    rests.x += d;
  }
  const float rest = heed_row_sum((rests.x + rests.y) + (rests.z + rests.w)) / float(params.width);
  const float variance = max(heed_row_sum((sums.x + sums.y) + (sums.z + sums.w)) / float(params.width) - rest * rest, 0.0);
  const float factor = 1.0 / sqrt(variance + params.epsilon);
  if (heed_row() >= params.rows) return;
  for (i = lane; i < params.width; i += LANES)
    y[params.y_origin + row * params.width + i] = (x[from + i] - mean - rest) * factor * gain[params.gain_origin + i] + bias[params.bias_origin + i];
}
