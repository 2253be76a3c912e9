#version 450
// Copies one input of a concat to its place. Words are copied as they are. Bindings: 0 x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/concat.h"

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Y { uint y[]; };

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  const uint row = at / params.x_row, column = at % params.x_row;
  y[params.y_origin + row * params.y_row + params.y_first + column] =
      x[params.x_origin + row % params.x_outer * params.x_row + column];
}
