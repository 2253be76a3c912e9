#version 450
// What x of a norm gets of the gradient g of its result, over the last axis. With h = gain g, u =
// (x - mean) / s and s the root of the variance plus epsilon, it is (h - mean h - u mean(h u)) / s.
// `rest` is what rounding left of the mean. With RMS the mean of x and that of h are 0. With HELD
// the last term is left out. Bindings: 0 x, 1 gain, 2 g, 3 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/row.glsl"
#include "params/layer_norm_gradient.h"

layout(constant_id = 2) const uint RMS = 0;
layout(constant_id = 3) const uint HELD = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, binding = 2) readonly buffer G { float g[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };

void main() {
  const uint row = min(heed_row(), params.rows - 1), lane = heed_lane();
  const uint x_at = params.x_origin + row * params.width,
             g_at = params.g_origin + row * params.width;
  const float share = 1.0 / float(params.width);
  float mean = 0.0, rest = 0.0, square = 0.0, sum = 0.0, along = 0.0;
  if (RMS == 0) {
    for (uint i = lane; i < params.width; i += LANES) mean += x[x_at + i];
    mean = heed_row_sum(mean) * share;
    for (uint i = lane; i < params.width; i += LANES) rest += x[x_at + i] - mean;
    rest = heed_row_sum(rest) * share;
  }
  for (uint i = lane; i < params.width; i += LANES) {
    const float d = x[x_at + i] - mean - rest, h = g[g_at + i] * gain[params.gain_origin + i];
    square += d * d;
    sum += h;
    along += h * d;
  }
  const float scale = 1.0 / sqrt(heed_row_sum(square) * share + params.epsilon);
  sum = heed_row_sum(sum) * share;
  along = heed_row_sum(along) * share * scale * scale;
  if (heed_row() >= params.rows) return;
  for (uint i = lane; i < params.width; i += LANES) {
    float v = g[g_at + i] * gain[params.gain_origin + i];
    if (RMS == 0) v -= sum;
    if (HELD == 0) v -= (x[x_at + i] - mean - rest) * along;
    y[params.y_origin + row * params.width + i] = v * scale;
  }
}
