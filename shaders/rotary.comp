#version 450
// Each pair (a, b) of a token's first 2 pairs elements becomes (a cos - b sin, b cos + a sin); the
// first tokens and the elements after those are copied. Two neighbours of y an invocation: in fp16
// they are one word. Bindings: 0 x, 1 cos, 2 sin, 3 y, 4 counter.
#extension GL_GOOGLE_include_directive : require
#define HEED_FP16_COUNTER 4
#include "include/base.glsl"
#include "include/half.glsl"
#include "params/rotary.h"

layout(constant_id = 1) const uint INTERLEAVED = 0; // pair j: 2j and 2j + 1, not j and j + pairs
layout(constant_id = 2) const uint HALF_IN = 0;     // x is fp16
layout(constant_id = 3) const uint HALF_OUT = 0;    // y is fp16, its depth in fours

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Cos { float cosines[]; };
layout(std430, binding = 2) readonly buffer Sin { float sines[]; };
layout(std430, binding = 3) writeonly buffer Y { uint y[]; };

float element(uint at) {
  at += params.x_origin;
  if (HALF_IN == 0) return uintBitsToFloat(x[at]);
  const vec2 both = unpackHalf2x16(x[at >> 1]);
  return (at & 1) == 0 ? both.x : both.y;
}

float rotated(uint at) {
  const uint row = at / params.depth, d = at % params.depth, token = row % params.tokens;
  const float v = element(at);
  if (token < params.first || d >= 2 * params.pairs) return v;
  const bool interleaved = INTERLEAVED != 0;
  const bool second = interleaved ? (d & 1) == 1 : d >= params.pairs;
  const uint gap = interleaved ? 1 : params.pairs, table = row / params.tokens % params.tables;
  const uint angle =
      (table * (params.tokens - params.first) + token - params.first) * params.pairs +
      (interleaved ? d >> 1 : d % params.pairs);
  const float other = element(second ? at - gap : at + gap);
  precise const float along = v * cosines[params.cos_origin + angle],
                      across = other * sines[params.sin_origin + angle];
  precise const float turned = second ? along + across : along - across;
  return turned;
}

void main() {
  const uint at = heed_item() * 2;
  if (at >= params.count) return;
  const vec2 v = vec2(rotated(at), rotated(min(at + 1, params.count - 1)));
  if (HALF_OUT != 0) {
    y[(params.y_origin + at) >> 1] = heed_pack(vec4(v, 0.0, 0.0)).x;
    return;
  }
  y[params.y_origin + at] = floatBitsToUint(v.x);
  if (at + 1 < params.count) y[params.y_origin + at + 1] = floatBitsToUint(v.y);
}
