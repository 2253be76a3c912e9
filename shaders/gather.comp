#version 450
// Entries of x along an axis by indices; an index that names none gives 0. Words are copied as they
// are. Bindings: 0 x, 1 indices, 2 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/gather.h"

layout(constant_id = 1) const uint ELEMENTS = 0;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Indices { int indices[]; };
layout(std430, binding = 2) writeonly buffer Y { uint y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  uint from = params.x_origin, number = at;
  if (ELEMENTS != 0) {
    uint rest = at;
    for (int i = 5; i >= 0; i--) {
      from += rest % params.size[i] * params.stride[i];
      rest /= params.size[i];
    }
  } else {
    const uint row = at / params.run;
    number = row % params.indices;
    from += row / params.indices * params.entries * params.run + at % params.run;
  }
  const int index = indices[params.indices_origin + number],
            entry = index < 0 ? index + int(params.entries) : index;
  const bool inside = entry >= 0 && entry < int(params.entries);
  y[params.y_origin + at] = inside ? x[from + uint(entry) * params.run] : 0u;
}
