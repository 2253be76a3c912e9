#version 450
// What a device copies at best: y = x, `steps` vec4 an invocation, neighbours side by side.
// Bindings: 0 x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/ceiling.h"

#ifdef HEED_TEXEL
layout(binding = 0) uniform samplerBuffer x_texels;
#define HEED_X4(i) texelFetch(x_texels, int(i))
#else
layout(std430, binding = 0) readonly buffer X4 { vec4 x4[]; };
#define HEED_X4(i) x4[i]
#endif
layout(std430, binding = 1) writeonly buffer Y4 { vec4 y4[]; };

void main() {
  const uint from = heed_group() * gl_WorkGroupSize.x * params.steps + gl_LocalInvocationID.x;
  for (uint i = 0; i < params.steps; i++)
    y4[from + i * gl_WorkGroupSize.x] = HEED_X4(from + i * gl_WorkGroupSize.x);
}
