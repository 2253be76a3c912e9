#version 450
// y = activation(x), or its slope, or its ratio to x, with TIMES times a factor; four elements an
// invocation. Bindings: 0 x, 1 y, 2 the factor.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/math.glsl"
#include "include/slope.glsl"
#include "params/activation.h"

// of heed_activation, and from bit 8 on of heed_activation_form
layout(constant_id = 1) const uint KIND = 0;
layout(constant_id = 2) const uint TIMES = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
layout(std430, binding = 2) readonly buffer Times { float times[]; };

void main() {
  const uint first = heed_item() * 4;
  if (first >= params.count) return;
  const uint last = params.count - 1;
  vec4 v;
  for (uint c = 0; c < 4; c++) v[c] = x[params.x_origin + min(first + c, last)];
  switch (KIND >> 8) {
    case 1: v = heed_slope(KIND & 255, v); break;
    case 2: v = heed_ratio(KIND & 255, v); break;
    default: v = heed_activate(KIND, v);
  }
  if (TIMES != 0)
    for (uint c = 0; c < 4; c++) v[c] *= times[params.times_origin + min(first + c, last)];
  for (uint c = 0; c < 4; c++)
    if (first + c <= last) y[params.y_origin + first + c] = v[c];
}
