#version 450
// y = softmax(x) over the last axis: 1 maximum 2 sum of exponentials 3 quotient. A NaN makes the
// whole row NaN, and so does a row whose largest entry is infinite. Bindings: 0 x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/math.glsl"
#include "include/row.glsl"
#include "params/softmax.h"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };

// The magnitude bits of NaN and Inf.
bool heed_not_finite(float v) { return (floatBitsToUint(v) & 0x7FFFFFFFu) >= 0x7F800000u; }

void main() {
  const uint row = min(heed_row(), params.rows - 1), lane = heed_lane();
  const uint from = params.x_origin + row * params.width;
  float largest = uintBitsToFloat(0xFF800000u), broken = 0.0;
  for (uint i = lane; i < params.width; i += LANES) {
    const float v = x[from + i];
    if (heed_is_nan(v)) broken = 1.0;
    largest = max(largest, v);
  }
  broken = heed_row_max(broken);
  largest = heed_row_max(largest);
  if (heed_not_finite(largest)) broken = 1.0;
  float sum = 0.0;
  for (uint i = lane; i < params.width; i += LANES) sum += heed_exp(x[from + i] - largest);
  sum = heed_row_sum(sum);
  if (heed_row() >= params.rows) return;
  for (uint i = lane; i < params.width; i += LANES)
    y[params.y_origin + row * params.width + i] =
        broken > 0.0 ? uintBitsToFloat(0x7FC00000u) : heed_exp(x[from + i] - largest) / sum;
}
