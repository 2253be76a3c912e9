#version 450
// One token of a GRU: r, z = sigmoid of their gates; n = tanh(x's part + r (h's part)); h = n + z
// (h - n). Bindings: include/recurrent.glsl; those of c are not used.
#extension GL_GOOGLE_include_directive : require
#define GATES 3
#include "params/gru.h"
#include "include/recurrent.glsl"

void main() {
  const uint item = heed_item();
  if (item >= params.count) return;
  const uint batch = item / params.hidden, j = item % params.hidden;
  const vec4 hidden = hidden_gates(batch, j), given = input_gates(batch, j),
             open = sigmoid(hidden + given);
  const float before =
      has(HEED_RECURRENT_H) ? h_before[params.h_origin + batch * params.h_stride + j] : 0.0;
  const float next = hyperbolic(given.z + open.x * hidden.z);
  store(batch, j, next + open.y * (before - next));
}
