#version 450
// y = gain (x - mean) / sqrt(variance + epsilon) + bias over the last axis: 1 mean 2 variance about
// it, and what rounding left of the mean (a mean far from 0 costs digits) 3 result. With RMS the
// mean is 0. Bindings: 0 x, 1 gain, 2 bias, 3 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/row.glsl"
#include "params/layer_norm.h"

layout(constant_id = 2) const uint RMS = 0;
layout(constant_id = 3) const uint HAS_BIAS = 1;

#ifdef HEED_TEXEL // one lane a row, rows of a multiple of four elements that begin at one
layout(binding = 0) uniform samplerBuffer x_texels;
layout(binding = 1) uniform samplerBuffer gain_texels;
layout(binding = 2) uniform samplerBuffer bias_texels;
layout(std430, binding = 3) writeonly buffer Y { vec4 y4[]; };
#define HEED_FOUR(texels, buffer, at) texelFetch(texels, int((at) >> 2))
#define HEED_ONE(buffer, at) 0.0
#define HEED_PUT(at, v) y4[(at) >> 2] = v
#else
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };
#define HEED_FOUR(texels, buffer, at) \
  vec4(buffer[at], buffer[(at) + LANES], buffer[(at) + 2 * LANES], buffer[(at) + 3 * LANES])
#define HEED_ONE(buffer, at) buffer[at]
#define HEED_PUT(at, v) \
  for (uint c = 0; c < 4; c++) y[(at) + c * LANES] = v[c]
#endif

uint from; // the row in x

vec4 four(uint i) { return HEED_FOUR(x_texels, x, from + i); }
float sum_of(vec4 v) { return heed_row_sum((v.x + v.y) + (v.z + v.w)); }

void main() {
  const uint row = min(heed_row(), params.rows - 1), lane = heed_lane();
  const uint ends = params.width - params.width % (4 * LANES); // of the fours
  from = params.x_origin + row * params.width;
  // Four running sums: shorter chains, smaller rounding error.
  vec4 sums = vec4(0.0);
  float mean = 0.0;
  if (RMS == 0) {
    for (uint i = lane; i < ends; i += 4 * LANES) sums += four(i);
    for (uint i = ends + lane; i < params.width; i += LANES) sums.x += HEED_ONE(x, from + i);
    mean = sum_of(sums) / float(params.width);
    sums = vec4(0.0);
  }
  vec4 rests = vec4(0.0);
  for (uint i = lane; i < ends; i += 4 * LANES) {
    const vec4 d = four(i) - mean;
    sums += d * d;
    rests += d;
  }
  for (uint i = ends + lane; i < params.width; i += LANES) {
    const float d = HEED_ONE(x, from + i) - mean;
    sums.x += d * d;
    rests.x += d;
  }
  const float rest = RMS != 0 ? 0.0 : sum_of(rests) / float(params.width);
  const float variance = max(sum_of(sums) / float(params.width) - rest * rest, 0.0);
  const float factor = 1.0 / sqrt(variance + params.epsilon);
  if (heed_row() >= params.rows) return;
  const uint to = params.y_origin + row * params.width;
  for (uint i = lane; i < ends; i += 4 * LANES) {
    vec4 v =
        (four(i) - mean - rest) * factor * HEED_FOUR(gain_texels, gain, params.gain_origin + i);
    if (HAS_BIAS != 0) v += HEED_FOUR(bias_texels, bias, params.bias_origin + i);
    HEED_PUT(to + i, v);
  }
#ifndef HEED_TEXEL
  for (uint i = ends + lane; i < params.width; i += LANES)
    y[to + i] = (x[from + i] - mean - rest) * factor * gain[params.gain_origin + i] +
                (HAS_BIAS != 0 ? bias[params.bias_origin + i] : 0.0);
#endif
}
