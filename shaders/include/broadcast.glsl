// One element of a op b an invocation, b broadcast over axes whose stride is 0; params/<op>.h
// stands before it. Bindings: 0 a, 1 b, 2 y.
#ifndef HEED_BROADCAST_GLSL
#define HEED_BROADCAST_GLSL

#include "include/base.glsl"

// after collapsing, 1..6; the last AXES entries of size and stride count
layout(constant_id = 1) const uint AXES = 1;

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };

// The place in b of what meets element `at` of a.
uint other(uint at) {
  uint rest = at, from = 0;
  for (uint axis = 5; axis > 6 - AXES; axis--) {
    from += rest % params.size[axis] * params.stride[axis];
    rest /= params.size[axis];
  }
  return from + rest * params.stride[6 - AXES];
}

#endif
