#version 450
// A sum, mean or maximum of each window of each channel by itself; an invocation makes a result.
// Sums are chains of 64, joined. Bindings: 0 x, 1 weight, 2 bias, 3 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/elementary.glsl"
#include "params/depthwise.h"

layout(constant_id = 1) const uint KIND = 0; // heed_depthwise
layout(constant_id = 2) const uint HAS_BIAS = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };

// How many of `count` elements, from `at` on and `step` apart, lie in [low, high).
uint heed_inside(int at, uint step, uint count, int low, int high) {
  const uint below = low > at ? (uint(low - at) + step - 1u) / step : 0u,
             end = min(high > at ? (uint(high - at) + step - 1u) / step : 0u, count);
  return end - min(below, end);
}

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  const uint column = at % params.columns, row = at / params.columns % params.rows,
             image = at / params.columns / params.rows, output_index = image % params.outputs,
             batch = image / params.outputs;
  const uint plane = params.x_origin +
                     (batch * params.channels + output_index / (params.outputs / params.channels)) *
                         params.height * params.width;
  const int top = params.top + int(row * params.stride_rows),
            left = params.left + int(column * params.stride_columns);
  const uint taps = params.kernel_rows * params.kernel_columns,
             weights = params.weight_origin + output_index * taps;
  float whole = KIND == 2 ? -heed_infinity() : 0.0, chain = 0.0;
  for (uint k = 0; k < taps; k++) {
    const int from_row = top + int(k / params.kernel_columns * params.dilation_rows),
              from_column = left + int(k % params.kernel_columns * params.dilation_columns);
    if (from_row >= 0 && from_row < int(params.height) && from_column >= 0 &&
        from_column < int(params.width)) {
      const float v = x[plane + uint(from_row) * params.width + uint(from_column)];
      if (KIND == 2) {
        if (heed_is_nan(v) || (!heed_is_nan(whole) && v > whole)) whole = v;
      } else {
        chain += KIND == 0 ? v * weight[weights + k] : v;
      }
    }
    if ((k & 63u) == 63u) {
      if (KIND != 2) whole += chain;
      chain = 0.0;
    }
  }
  whole += KIND == 2 ? 0.0 : chain;
  if (KIND == 1) {
    const uint counted = heed_inside(top, params.dilation_rows, params.kernel_rows, params.low_row,
                                     params.high_row) *
                         heed_inside(left, params.dilation_columns, params.kernel_columns,
                                     params.low_column, params.high_column);
    whole = counted == 0u ? heed_nan() : whole / float(counted);
  }
  if (HAS_BIAS != 0) whole += bias[params.bias_origin + output_index];
  y[params.y_origin + at] = whole;
}
