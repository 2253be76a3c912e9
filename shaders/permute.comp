#version 450
// The axes of a tensor in another order. Words are copied as they are. Bindings: 0 x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/permute.h"

layout(constant_id = 1) const int AXES = 6; // merged axes in use, at the back of size and stride

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Y { uint y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  uint index = at, from = params.x_origin;
  for (int i = 5; i >= 6 - AXES; i--) {
    from += index % params.size[i] * params.stride[i];
    index /= params.size[i];
  }
  y[params.y_origin + at] = x[from];
}
