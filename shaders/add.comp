#version 450
// y = a + b, b broadcast over axes whose stride is 0. Bindings: 0 a, 1 b, 2 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/add.h"

layout(constant_id = 1) const uint AXES = 1; // after collapsing, 1..6; the last AXES entries of size and stride count

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  uint rest = at, from = 0;
  for (uint axis = 5; axis > 6 - AXES; axis--) {
    from += rest % params.size[axis] * params.stride[axis];
    rest /= params.size[axis];
  }
  from += rest * params.stride[6 - AXES];
  y[params.y_origin + at] = a[params.a_origin + at] + b[params.b_origin + from];
}
