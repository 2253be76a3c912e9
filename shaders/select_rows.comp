#version 450
// Rows [first, first + count) of axis 1. Words are copied as they are. Bindings: 0 x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/select_rows.h"

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Y { uint y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  y[params.y_origin + at] =
      x[params.x_origin + at / params.y_row * params.x_row + params.x_first + at % params.y_row];
}
