#version 450
// y = a + b: include/broadcast.glsl.
#extension GL_GOOGLE_include_directive : require
#include "params/add.h"
#include "include/broadcast.glsl"

void main() {
  const uint at = heed_item();
  if (at < params.count)
    y[params.y_origin + at] = a[params.a_origin + at] + b[params.b_origin + other(at)];
}
