// One token of a recurrence, one hidden element of one batch row an invocation; GATES and
// params.recurrent.h stand before it. Bindings: 0 what the input gives the gates [B, T, G H], 1
// weight_hh in panels of PANEL rows, 2 bias_hh, 3 h before, 4 c before, 5 y, 6 c after, 7 h after
// the last token.
#ifndef HEED_RECURRENT_GLSL
#define HEED_RECURRENT_GLSL

#include "include/base.glsl"
#include "include/math.glsl"
#include "params/recurrent_flags.h"

layout(constant_id = 1) const uint PANEL = 32;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) readonly buffer Before { float h_before[]; };
layout(std430, binding = 4) readonly buffer CellBefore { float c_before[]; };
layout(std430, binding = 5) writeonly buffer Y { float y[]; };
layout(std430, binding = 6) writeonly buffer CellAfter { float c_after[]; };
layout(std430, binding = 7) writeonly buffer After { float h_after[]; };

bool has(uint flag) { return (params.flags & flag) != 0; }

vec4 sigmoid(vec4 v) {
  const vec4 y = 1.0 / (1.0 + heed_exp(-v));
  return mix(y, v, bvec4(heed_is_nan(v.x), heed_is_nan(v.y), heed_is_nan(v.z), heed_is_nan(v.w)));
}
float hyperbolic(float v) { return heed_is_nan(v) ? v : heed_tanh(v); }

// What h gives the gates of hidden element j, bias included; with three gates the last is given
// twice.
vec4 hidden_gates(uint batch, uint j) {
  const uvec4 row = min(uvec4(0, 1, 2, 3), uvec4(GATES - 1)) * params.hidden + j;
  uvec4 at = row / PANEL * params.hidden * PANEL + row % PANEL;
  vec4 gates = vec4(0.0);
  if (has(HEED_RECURRENT_H)) {
    const uint h = params.h_origin + batch * params.h_stride;
    for (uint k = 0; k < params.hidden; k++, at += PANEL)
      gates += h_before[h + k] * vec4(weight[at.x], weight[at.y], weight[at.z], weight[at.w]);
  }
  if (has(HEED_RECURRENT_BIAS)) {
    const uvec4 from = row + params.bias_origin;
    gates += vec4(bias[from.x], bias[from.y], bias[from.z], bias[from.w]);
  }
  return gates;
}

vec4 input_gates(uint batch, uint j) {
  const uvec4 from = min(uvec4(0, 1, 2, 3), uvec4(GATES - 1)) * params.hidden + j +
                     params.x_origin +
                     (batch * params.tokens + params.token) * GATES * params.hidden;
  return vec4(x[from.x], x[from.y], x[from.z], x[from.w]);
}

void store(uint batch, uint j, float h) {
  y[params.y_origin + (batch * params.tokens + params.token) * params.hidden + j] = h;
  if (has(HEED_RECURRENT_LAST)) h_after[params.after_origin + batch * params.hidden + j] = h;
}

#endif
