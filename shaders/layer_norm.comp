#version 450
// y = gain (x - mean) / sqrt(variance + epsilon) + bias over the last axis: 1 mean 2 variance about
// it, and what rounding left of the mean (a mean far from 0 costs digits) 3 result. With RMS the
// mean is 0. A lane takes every LANES-th four of its row; they stay in registers from the first
// pass on where FOURS has room for them. Bindings: 0 x, 1 gain, 2 bias, 3 y, 4 counter.
#extension GL_GOOGLE_include_directive : require
#define HEED_FP16_COUNTER 4
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/row.glsl"
#include "params/layer_norm.h"

layout(constant_id = 2) const uint RMS = 0;
layout(constant_id = 3) const uint HAS_BIAS = 1;
layout(constant_id = 4) const int FOURS = 0;     // of a lane in registers; 0: x is read again
layout(constant_id = 5) const uint VECTOR = 0;   // everything can be reached as vec4
layout(constant_id = 6) const uint HALF_OUT = 0; // y is fp16, its columns in fours

#ifdef HEED_TEXEL // VECTOR
layout(binding = 0) uniform samplerBuffer x_texels;
layout(binding = 1) uniform samplerBuffer gain_texels;
layout(binding = 2) uniform samplerBuffer bias_texels;
#define HEED_FOUR(name, at, f) texelFetch(name##_texels, int(((at) >> 2) + (f)))
#else
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 0) readonly buffer X4 { vec4 x4[]; };
layout(std430, binding = 1) readonly buffer Gain4 { vec4 gain4[]; };
layout(std430, binding = 2) readonly buffer Bias4 { vec4 bias4[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };
#define HEED_ONE(name, at, f, c) (4 * (f) + c < params.width ? name[(at) + 4 * (f) + c] : 0.0)
#define HEED_FOUR(name, at, f)                                            \
  (VECTOR != 0 ? name##4 [((at) >> 2) + (f)]                              \
               : vec4(HEED_ONE(name, at, f, 0), HEED_ONE(name, at, f, 1), \
                      HEED_ONE(name, at, f, 2), HEED_ONE(name, at, f, 3)))
#endif
layout(std430, binding = 3) writeonly buffer Y4 { vec4 y4[]; };
layout(std430, binding = 3) writeonly buffer YHalf { uvec2 y_half[]; };

const int HELD = FOURS > 0 ? FOURS : 1;
vec4 held[HELD];
uint from, to; // the row in x and in y
// Four running sums: shorter chains, smaller rounding error.
vec4 sums, rests;
float mean, rest, factor;

float sum_of(vec4 v) { return heed_row_sum((v.x + v.y) + (v.z + v.w)); }

// Past the end of the row there are zeros.
vec4 inside(uint f, vec4 v) {
  for (uint c = 1; c < 4; c++)
    if (VECTOR == 0 && 4 * f + c >= params.width) v[c] = 0.0;
  return v;
}

void put(uint f, vec4 v) {
  if (HALF_OUT != 0) {
    y_half[(to >> 2) + f] = heed_pack(v);
    return;
  }
#ifndef HEED_TEXEL
  if (VECTOR == 0) {
    for (uint c = 0; c < 4; c++)
      if (4 * f + c < params.width) y[to + 4 * f + c] = v[c];
    return;
  }
#endif
  y4[(to >> 2) + f] = v;
}

void take(uint pass, uint f, vec4 v) {
  if (pass == 1) {
    sums += v;
  } else if (pass == 2) {
    const vec4 d = inside(f, v - mean);
    sums += d * d;
    rests += d;
  } else {
    v = (v - mean - rest) * factor * HEED_FOUR(gain, params.gain_origin, f);
    if (HAS_BIAS != 0) v += HEED_FOUR(bias, params.bias_origin, f);
    put(f, v);
  }
}

void each(uint pass) {
  const uint lane = heed_lane(), fours = (params.width + 3) / 4;
  if (FOURS > 0) {
    for (int i = 0; i < FOURS; i++)
      if (lane + i * LANES < fours) take(pass, lane + i * LANES, held[i]);
  } else {
    for (uint f = lane; f < fours; f += LANES) take(pass, f, HEED_FOUR(x, from, f));
  }
}

void main() {
  const uint row = min(heed_row(), params.rows - 1), last = (params.width + 3) / 4 - 1;
  from = params.x_origin + row * params.width;
  to = params.y_origin + row * params.width;
  for (int i = 0; i < FOURS; i++) held[i] = HEED_FOUR(x, from, min(heed_lane() + i * LANES, last));
  sums = rests = vec4(0.0);
  mean = 0.0;
  if (RMS == 0) {
    each(1);
    mean = sum_of(sums) / float(params.width);
    sums = vec4(0.0);
  }
  each(2);
  rest = RMS != 0 ? 0.0 : sum_of(rests) / float(params.width);
  float variance = sum_of(sums) / float(params.width);
  if (RMS == 0)
    variance = max(variance - rest * rest, 0.0); // of NaN it may be 0, as mean is NaN then
  factor = 1.0 / sqrt(variance + params.epsilon);
  if (heed_row() < params.rows) each(3);
}
