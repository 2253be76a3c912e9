#version 450
// A window of a tensor by start and step along each axis. Words are copied as they are. Bindings: 0
// x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/slice.h"

layout(constant_id = 1) const int AXES = 6;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Y { uint y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  uint rest = at, from = params.x_origin;
  bool inside = true;
  for (int i = AXES - 1; i >= 0; i--) {
    const uint index = rest % params.size[i];
    inside = inside && index >= params.from[i] && index < params.to[i];
    from += index * params.stride[i];
    rest /= params.size[i];
  }
  y[params.y_origin + at] = inside ? x[from] : params.value;
}
