#version 450
// One token of an LSTM: i, f, o = sigmoid, g = tanh of their gates; c = f c + i g; h = o tanh(c).
// Bindings: include/recurrent.glsl.
#extension GL_GOOGLE_include_directive : require
#define GATES 4
#include "params/lstm.h"
#include "include/recurrent.glsl"

void main() {
  const uint item = heed_item();
  if (item >= params.count) return;
  const uint batch = item / params.hidden, j = item % params.hidden;
  const vec4 gates = hidden_gates(batch, j) + input_gates(batch, j), open = sigmoid(gates);
  const float before = has(HEED_RECURRENT_C) ? c_before[params.c_origin + item] : 0.0;
  const float c = open.y * before + open.x * hyperbolic(gates.z);
  c_after[params.cell_origin + item] = c;
  store(batch, j, open.w * hyperbolic(c));
}
